-- Ends the tokens of a user that were created until a time, audits each and notifies the processes that authenticate.
-- Workers have no access to tokens, so this runs with the owner's rights.
create or replace function revoke_tokens(tenant_name text, name text, created_until timestamptz, revoked_by text)
returns bigint
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  with revoked as (
    update tokens t set revoked_at = now()
    where t.tenant_id = tenant_name and t.user_name <> '' and folded_user(t.user_name) = folded_user(name)
      and t.revoked_at is null and t.created_at <= created_until
    returning t.tenant_id, t.id, t.scopes, t.user_name
  ),
  audited as (
    insert into audit (tenant_id, principal, action, entity, detail)
    select r.tenant_id, revoked_by, 'token.revoked', r.id::text, jsonb_build_object('scopes', r.scopes, 'user', r.user_name)
    from revoked r
    returning 1
  ),
  notified as (select pg_notify('lily_access', '') from (select from revoked limit 1) as any_revoked)
  select (select count(*) from revoked) + 0 * (select count(*) from notified)
$$;

revoke all on function revoke_tokens(text, text, timestamptz, text) from public;
grant execute on function revoke_tokens(text, text, timestamptz, text) to lily_pipeline;
