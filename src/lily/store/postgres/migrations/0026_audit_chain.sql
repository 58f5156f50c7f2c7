-- The audit becomes a chain of hashes per tenant, which can be read and verified (functions/95_audit.sql).

alter table audit
  add column number        bigint,  -- 1, 2, 3, … per tenant; null only until the transaction that inserts it commits
  add column token_id      text,
  add column address       text,
  add column correlation   text,
  add column previous_hash bytea,
  add column hash          bytea;
update audit set correlation = detail ->> 'correlation' where detail ? 'correlation';

-- The defaults apply to new entries alone: where earlier ones came from is not known. The API sets `lily.origin` for each
-- transaction; of the pipeline and the workers, the connection has a name; anyone else ran a command as the owner.
alter table audit
  alter column token_id set default nullif(current_setting('lily.origin', true), '')::jsonb ->> 'token',
  alter column correlation set default nullif(current_setting('lily.origin', true), '')::jsonb ->> 'correlation',
  alter column address set default case session_user
    when 'lily_api' then nullif(current_setting('lily.origin', true), '')::jsonb ->> 'address'
    when 'lily_pipeline' then nullif(current_setting('application_name'), '')
    else 'cli'
  end;

drop index audit_of_tenant;
create unique index audit_in_order on audit (tenant_id, number);
create index audit_by_time on audit (tenant_id, at);
create index audit_unchained on audit (tenant_id, id) where number is null;

-- The end of each chain, and the last entry that was deleted by age.
create table audit_heads (
  tenant_id     text primary key references tenants,
  number        bigint not null default 0,
  hash          bytea not null default '',
  pruned_number bigint not null default 0,
  pruned_hash   bytea not null default ''
);
select separate_tenants('audit_heads');

-- What is chained: the previous hash, then each field as its length in bytes, a colon, the text and a comma; `-,` if it is
-- null. Hashes are stored, so this function is not repeatable and never changes.
create function audit_hash(previous bytea, e audit) returns bytea
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select sha256(previous || convert_to(
    string_agg(coalesce(octet_length(field) || ':' || field, '-') || ',', '' order by place), 'UTF8'))
  from unnest(array[
    e.tenant_id, e.number::text, to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), e.principal,
    e.token_id, e.address, e.correlation, e.action, e.entity, e.detail::text
  ]) with ordinality as fields (field, place)
$$;

revoke all on function audit_hash(bytea, audit) from public;

-- Chains the entries that this transaction inserted: number, previous hash and hash. Committed entries have a number, so
-- those without one are its own. It runs before the commit (`chained` is a deferred trigger), so the lock of a chain's end is
-- held for the commit alone, however long the transaction was. The first call takes the locks of all tenants, in order:
-- two transactions with entries of several tenants cannot wait for each other. Not repeatable, like audit_hash.
create function chain_entries() returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  chained text;
  head audit_heads;
  entry audit;
  entries audit[];
begin
  for chained in select distinct tenant_id from audit where number is null order by tenant_id loop
    insert into audit_heads (tenant_id) values (chained) on conflict do nothing;
    select * into strict head from audit_heads where tenant_id = chained for update;
    entries := '{}';
    for entry in select * from audit where tenant_id = chained and number is null order by id loop
      entry.number := head.number + 1;
      entry.previous_hash := head.hash;
      entry.hash := audit_hash(head.hash, entry);
      entries := entries || entry;
      head.number := entry.number;
      head.hash := entry.hash;
    end loop;
    -- In one statement, so that many entries of one transaction are found once and not one by one.
    update audit a set number = e.number, previous_hash = e.previous_hash, hash = e.hash
    from unnest(entries) as e where a.tenant_id = chained and a.id = e.id;
    update audit_heads set number = head.number, hash = head.hash where tenant_id = chained;
  end loop;
end
$$;

select chain_entries();

create function chain_audit() returns trigger
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  -- By the primary key alone: an index of the unchained entries would be read as a whole.
  if (select number from audit where id = new.id) is null then
    perform chain_entries();
  end if;
  return null;
end
$$;
create constraint trigger chained after insert on audit deferrable initially deferred
for each row execute function chain_audit();
revoke all on function chain_entries(), chain_audit() from public;

-- By column, so that a role cannot write a number, a hash, a time or an address of its own choice.
revoke insert on audit from lily_api, lily_pipeline;
grant insert (tenant_id, principal, action, entity, detail, correlation) on audit to lily_api, lily_pipeline;
