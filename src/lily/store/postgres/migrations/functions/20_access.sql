-- Names of users are compared in one form: compatible letters are the same letter, and case does not matter. Not with
-- the database's own rules, which can be those of the locale C.
create or replace function folded_user(name text) returns text language sql immutable parallel safe
return casefold(normalize(name, NFKC) collate "pg_unicode_fast");

-- Whether a user is kept out. A token without a user cannot be.
create or replace function is_disabled(tenant_name text, name text) returns boolean language sql stable parallel safe
return exists (select from disabled_users d where d.tenant_id = tenant_name and d.user_name = folded_user(name));

-- A token is looked up before its tenant is known, so this function runs with the owner's rights. It takes a hash only.
create or replace function authenticate(token_hash bytea)
returns table (token_id uuid, tenant_id text, scopes text[], user_name text, expires_at timestamptz, scraper_group text)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select t.id, t.tenant_id, t.scopes, t.user_name, t.expires_at, t.scraper_group
  from tokens t
  where t.hash = token_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
    and not is_disabled(t.tenant_id, t.user_name)
$$;

-- Redeeming a ticket deletes it, and all expired tickets with it.
create or replace function redeem_ticket(ticket_hash bytea)
returns table (
  token_id uuid, tenant_id text, scopes text[], user_name text, expires_at timestamptz, groups text[], issuer text,
  scraper_group text
)
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  with deleted as (delete from tickets where hash = ticket_hash or expires_at < now() returning *),
  used as (select * from deleted d where d.hash = ticket_hash and d.expires_at > now()),
  principal as (
    select t.id as token_id, t.tenant_id, t.scopes, t.user_name, t.expires_at, '{}'::text[] as groups, '' as issuer,
           t.scraper_group
    from used join tokens t on t.id = used.token_id and t.tenant_id = used.tenant_id
    where t.revoked_at is null
    union all
    select null, u.tenant_id, u.scopes, u.user_name, u.valid_until, u.groups, u.issuer, null from used u where u.token_id is null
  )
  select p.* from principal p
  where (p.expires_at is null or p.expires_at > now()) and not is_disabled(p.tenant_id, p.user_name)
$$;

revoke all on function authenticate(bytea), redeem_ticket(bytea) from public;
grant execute on function authenticate(bytea), redeem_ticket(bytea) to lily_api;

-- Workers decide for the targets of every tenant.
grant select on disabled_users to lily_pipeline;
do $$
begin
  if not exists (select from pg_policy where polrelid = 'disabled_users'::regclass and polname = 'every_tenant') then
    create policy every_tenant on disabled_users for select to lily_pipeline using (true);
  end if;
end
$$;

-- Records that tokens are in use. The API has no access to tokens, so this runs with the owner's rights. A token's row is
-- written at most once a minute, however many processes report it.
create or replace function record_token_uses(used uuid[]) returns void
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  update tokens set last_used_at = now()
  where id = any(used) and (last_used_at is null or last_used_at < now() - interval '1 minute')
$$;

revoke all on function record_token_uses(uuid[]) from public;
grant execute on function record_token_uses(uuid[]) to lily_api;
