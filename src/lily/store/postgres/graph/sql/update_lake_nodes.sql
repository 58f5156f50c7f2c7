-- Stores what the lake has of these nodes, and returns those whose parent has changed or whose name is now known, with
-- whether PostgreSQL has their asset. The parent of a node whose asset PostgreSQL has by now comes from the asset.
with given as (
  select t.*, exists (select from assets a where a.tenant_id = t.tenant_id and a.id = t.id offset 0) as known
  from unnest(%(tenants)s::text[], %(ids)s::uuid[], %(parents)s::uuid[], %(qualified_names)s::text[], %(names)s::text[],
              %(types)s::text[], %(deleted)s::boolean[])
       as t (tenant_id, id, parent, qualified_name, name, entity_type, is_deleted)
  offset 0
),
updated as (
  update graph_nodes g
  set parent = case when t.known then g.parent else t.parent end,
      qualified_name = t.qualified_name, name = t.name, entity_type = t.entity_type, is_deleted = t.is_deleted,
      awaits_lake = false
  from given t
  where g.id = t.id and g.tenant_id = t.tenant_id
  returning g.id::text as id, new.parent::text as parent, t.known,
            old.parent is distinct from new.parent or old.qualified_name is distinct from new.qualified_name as moved
)
select id, parent, known from updated where moved
