-- Whether the derived tags of a tenant may be older than what is committed, so that decisions have to look for themselves
-- what would arrive (65_arriving_tags.sql). In doubt it returns true.
--
-- A batch counts as propagated once it is published and the propagation reaction has read the change log up to where it
-- ended then. The ends only grow, so of the published batches the newest ones are looked at until one is propagated. Most
-- calls look at a single one.
--
-- With the owner's rights, because batches are shared by all tenants: it returns nothing but this one answer.
create or replace function propagation_lags(p_tenant text) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  waits boolean;  -- something of this tenant
  moves boolean;  -- a batch of any tenant is on its way
  batch record;
  looks integer := 0;
begin
  -- One query for nearly all calls.
  select exists (select from parked_tenants where reaction = 'propagation' and tenant_id = p_tenant)
         -- Between two pages of a run, what was retracted may not be derived again yet.
         or exists (select from propagation_runs where tenant_id = p_tenant)
         -- What propagation could not handle is missing until it is replayed.
         or exists (
           select from dead_letters
           where tenant_id = p_tenant and topic = 'governance-events@propagation' and replayed_at is null)
         -- The lake has yet to report their parents, so nothing was inherited from these.
         or exists (select from graph_nodes where tenant_id = p_tenant and awaits_lake)
         or exists (select from assets where tenant_id = p_tenant and awaits_lake and parent is null),
         exists (select from batches where published_at is null) or not coalesce((
           select is_propagated(ends)
           from batches where published_at is not null order by governance_end(ends) desc limit 1), true)
    into waits, moves;
  if waits or not moves then
    return waits;
  end if;
  for batch in select b.id from batches b where b.published_at is null loop
    looks := looks + 1;
    if looks > 64 or batch_can_propagate(p_tenant, batch.id) then
      return true;
    end if;
  end loop;
  for batch in
    select b.id, b.ends from batches b where b.published_at is not null order by governance_end(b.ends) desc
  loop
    exit when is_propagated(batch.ends);
    looks := looks + 1;
    if looks > 64 or batch_can_propagate(p_tenant, batch.id) then
      return true;
    end if;
  end loop;
  return false;
end
$$;

-- Whether propagation has read the change log this far.
create or replace function is_propagated(ends jsonb) returns boolean
language sql stable as $$
  select not exists (
    select from jsonb_each_text(ends -> 'governance-events') as e (partition, "end")
    left join applied r on r.topic = 'governance-events@propagation' and r.partition = e.partition::integer
    where e."end"::bigint > coalesce(r.next_offset, 0))
$$;

-- The fields of a layer, beside those with a name of their own, that decide which tags an asset has or passes on: what is
-- suppressed and what is held. As `concerns_tags` in lily.model.governance.
create or replace function deciding_fields(fields jsonb) returns text[]
language sql immutable parallel safe as $$
  select coalesce(array_agg(field order by field), '{}')
  from jsonb_object_keys(fields) as field
  where field ^@ '$suppressed:' or field ^@ '$held:' or field ^@ '$held_parent:'
$$;

-- Whether a batch has a change of the tenant that can change derived tags: the same that the relay routes to
-- `governance-events`, without what concerns attributes alone. True without a look if the batch is large: then finding
-- out costs more than what it saves.
create or replace function batch_can_propagate(p_tenant text, p_batch bigint) returns boolean
language sql stable as $$
  select exists (select from edge_changes e where e.batch_id = p_batch and e.tenant_id = p_tenant)
      or exists (
        select from decisions d
        where d.batch_id = p_batch and d.tenant_id = p_tenant and d.kind in ('tag', 'setting'))
      or (
        select count(*) > 200 or coalesce(bool_or(c.tenant_id = p_tenant and (
          case when c.before is null then
            coalesce(c.after -> 'tags', '{}') <> '{}' or coalesce((c.after ->> '$deleted')::boolean, false)
            or deciding_fields(c.after) <> '{}'
            or exists (select from graph_nodes g where g.id = c.asset_id offset 0)
            or exists (select from edges e where e.from_id = c.asset_id offset 0)
            or exists (select from edges e where e.to_id = c.asset_id offset 0)
          else
            (c.before -> 'tags', c.before -> '$parent', c.before -> '$covers', c.before -> '$deleted', c.before -> '$cut',
             deciding_fields(c.before))
            is distinct from
            (c.after -> 'tags', c.after -> '$parent', c.after -> '$covers', c.after -> '$deleted', c.after -> '$cut',
             deciding_fields(c.after))
          end)), false)
        from (select * from changes where batch_id = p_batch limit 201) c
      )
$$;

revoke all on function propagation_lags(text), is_propagated(jsonb), batch_can_propagate(text, bigint) from public;
grant execute on function propagation_lags(text) to lily_api, lily_pipeline;
grant execute on function is_propagated(jsonb) to lily_pipeline;  -- housekeeping keeps the batches that are not
