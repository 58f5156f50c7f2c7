-- Against mistakes, of the owner too: an entry is changed only to chain it, and deleted only by prune_audit.
create or replace function keep_audit() returns trigger
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
declare
  chained constant text[] := array['number', 'previous_hash', 'hash'];
begin
  if tg_op = 'UPDATE' then
    if old.number is null and (to_jsonb(new) - chained) = (to_jsonb(old) - chained) then
      return new;
    end if;
  elsif tg_op = 'DELETE' then
    if old.number <= nullif(current_setting('lily.audit_pruned', true), '')::bigint then
      return old;
    end if;
  end if;
  raise exception 'the audit is append-only: % of entries is refused', tg_op
    using errcode = 'insufficient_privilege',
          hint = 'Entries are deleted by age if LILY_RETENTION__AUDIT_DAYS is set.';
end
$$;
create or replace trigger kept before update or delete on audit for each row execute function keep_audit();
create or replace trigger not_truncated before truncate on audit for each statement execute function keep_audit();

-- Deletes the oldest entries of a tenant, at most `most`, as far as all are older than `before`. The hash of the last of them
-- stays, for the chain begins after it, and an entry records it: so a deletion in any other way shows. Returns how many.
create or replace function prune_audit(p_tenant text, p_before timestamptz, p_most bigint) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  head audit_heads;
  last audit;
  deleted bigint;
begin
  select * into head from audit_heads where tenant_id = p_tenant for update;
  select * into last from audit
  where tenant_id = p_tenant and number = least(
    head.pruned_number + p_most,
    coalesce((select min(number) - 1 from audit where tenant_id = p_tenant and at >= p_before), head.number));
  -- The record of the last deletion is no reason for another one.
  if not exists (select from audit where tenant_id = p_tenant and number <= last.number and action <> 'audit.pruned') then
    return 0;
  end if;
  perform set_config('lily.audit_pruned', last.number::text, true);
  delete from audit where tenant_id = p_tenant and number <= last.number;
  get diagnostics deleted = row_count;
  perform set_config('lily.audit_pruned', '', true);
  update audit_heads set pruned_number = last.number, pruned_hash = last.hash where tenant_id = p_tenant;
  insert into audit (tenant_id, principal, action, entity, detail)
  values (p_tenant, 'lily', 'audit.pruned', last.number::text, jsonb_build_object(
    'entries', deleted, 'hash', encode(last.hash, 'hex'), 'before', p_before));
  return deleted;
end
$$;

revoke all on function keep_audit(), prune_audit(text, timestamptz, bigint) from public;
grant execute on function prune_audit(text, timestamptz, bigint) to lily_pipeline;
