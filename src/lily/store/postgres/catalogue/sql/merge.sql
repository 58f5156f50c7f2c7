-- Merges one layer of every staged asset whose newer statement replaces the stored layer, which is nearly always.
-- The rest (older, partial or repeated statements) is read by unmerged.sql and merged field by field.
with merged as (
  merge into assets a
  using (select * from staged where layer = %(layer)s order by tenant_id, id) s
  on a.tenant_id = s.tenant_id and a.id = s.id
  when matched and a.{at} is null
                or (s.clocks is null and a.{clocks} is null and s.at > a.{at} and a.{values} - s.keys = '{{}}')
  then update set
    {values}   = s.fields,
    {at}       = s.at,
    {clocks}   = s.clocks,
    version    = a.version + (coalesce(a.{values}, '{{}}') <> s.fields)::integer,
    created_at = least(a.created_at, s.first),
    updated_at = greatest(a.updated_at, s.last)
  when not matched then
    -- What may be a column may already have a state in the lake, from the bulk lane.
    insert (tenant_id, id, qualified_name, {values}, {at}, {clocks}, created_at, updated_at, awaits_lake)
    values (s.tenant_id, s.id, s.qualified_name, s.fields, s.at, s.clocks, s.first, s.last,
            coalesce(s.fields ->> '$type', 'column') in ('column', 'field', 'bi_field'))
  returning merge_action() = 'INSERT' as created, old.{values} as before, new.{values} as after, s.causes,
            new.tenant_id, new.id, new.qualified_name, coalesce(new.entity_type, s.entity_type) as entity_type,
            new.version
),
logged as (
  insert into changes (batch_id, tenant_id, asset_id, qualified_name, entity_type, layer, version, before, after, causes)
  select %(batch)s, tenant_id, id, qualified_name, entity_type, %(layer)s, version, before, after, causes
  from merged
  where created or coalesce(before, '{{}}') <> after
  returning 1
)
select (select count(*) from merged) as merged, (select count(*) from logged) as changed
