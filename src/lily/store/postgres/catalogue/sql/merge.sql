-- Merges one layer of every staged asset whose newer statement replaces the stored layer, which is nearly always.
-- The rest (older, partial or repeated statements, and those that leave out a tag or change the parent) is read by
-- unmerged.sql and merged field by field. What has clocks of its own and is not stated again stays as it is.
with merged as (
  merge into assets a
  using (select * from staged where layer = %(layer)s order by tenant_id, id) s
  on a.tenant_id = s.tenant_id and a.id = s.id
  when matched and a.{at} is null
                or (s.clocks is null and s.at > a.{at}
                    and case when a.{clocks} is null then a.{values} - s.keys = '{{}}'
                             else keeps_clocked(a.{values}, a.{clocks}, s.fields, s.keys) end
                    and coalesce(s.fields -> 'tags' @> (a.{values} -> 'tags'), true)
                    and coalesce(s.fields -> '$parent' = a.{values} -> '$parent', true))
  then update set
    {values}   = case when a.{clocks} is null then s.fields else (a.{values} - s.keys) || s.fields end,
    {at}       = s.at,
    {clocks}   = case when a.{at} is null then s.clocks else nullif(a.{clocks} - s.keys, '{{}}') end,
    version    = a.version + (coalesce(a.{values}, '{{}}')
                              <> case when a.{clocks} is null then s.fields else (a.{values} - s.keys) || s.fields end)::integer,
    created_at = least(a.created_at, s.first),
    updated_at = greatest(a.updated_at, s.last)
  when not matched then
    -- What may be a column may already have a state in the lake, from the bulk lane, and so may what has the name of one.
    insert (tenant_id, id, qualified_name, {values}, {at}, {clocks}, created_at, updated_at, awaits_lake)
    values (s.tenant_id, s.id, s.qualified_name, s.fields, s.at, s.clocks, s.first, s.last,
            coalesce(s.fields ->> '$type', 'column') in ('column', 'field', 'bi_field')
            -- The name's own look-up hashes it, so it is left out where nothing is listed in its place.
            or case when exists (
              select from lake_parents l
              where l.tenant_id = s.tenant_id and l.place in ('*', substr(s.id::text, 1, 4))
            ) then exists (
              select from lake_parents l
              where l.tenant_id = s.tenant_id and l.place = '*'
            ) or exists (
              select from lake_parents l
              where l.tenant_id = s.tenant_id and l.place = substr(s.id::text, 1, 4)
                and l.id = id_above_name(s.tenant_id, s.qualified_name)
            ) else false end)
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
