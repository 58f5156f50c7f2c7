-- The columns of tables that PostgreSQL knows: as assets, as ends of edges, and from the newest schemas of producers. The
-- last column is true for those of a schema.
with tables as (
  select name, id from unnest(%(names)s::text[], %(ids)s::uuid[]) as t (name, id)
)
select t.name, a.name, a.qualified_name, false
from tables t
join assets a on a.tenant_id = %(tenant)s and a.parent = t.id::text
where a.entity_type = 'column' and a.name is not null and not a.is_deleted
union
select t.name, g.name, g.qualified_name, false
from tables t
join graph_nodes g on g.tenant_id = %(tenant)s and g.parent = t.id
where g.qualified_name is not null and g.name is not null and g.entity_type = 'column' and not g.is_deleted
union
select t.name, c.value, c.key, true
from tables t
join dataset_schemas s on s.tenant_id = %(tenant)s and s.dataset_id = t.id
cross join lateral jsonb_each_text(s.columns) c
