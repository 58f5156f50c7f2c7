-- What is below a table: columns and the fields of structs, as assets, as nodes of the graph, and as ends that edges have
-- named. The ids of what is named directly below a table are between two ids. A cycle ends, because each is found once.
with recursive below (id) as (
  select %(table)s::uuid
  union
  select c.id
  from below b
  cross join lateral (
    select a.id from assets a
    where a.tenant_id = %(tenant)s and a.parent = b.id::text and a.entity_type in ('column', 'field', 'bi_field')
    union all
    select g.id from graph_nodes g
    where g.tenant_id = %(tenant)s and g.parent = b.id and g.entity_type in ('column', 'field', 'bi_field')
  ) c
)
select a.qualified_name, a.name, coalesce(a.source, '{}') || coalesce(a.enriched, '{}') || coalesce(a."user", '{}'),
       a.is_deleted, a.created_at, a.updated_at
from below b join assets a on a.tenant_id = %(tenant)s and a.id = b.id
where b.id <> %(table)s::uuid
union all
select g.qualified_name, g.name, null, g.is_deleted, null, null
from below b join graph_nodes g on g.tenant_id = %(tenant)s and g.id = b.id
where b.id <> %(table)s::uuid and g.qualified_name is not null
union all
select n.qualified_name, null, null, false, null, null
from named_ends n
where n.tenant_id = %(tenant)s and n.id between %(first)s::uuid and %(last)s::uuid
  and starts_with(n.qualified_name, %(prefix)s)
  and not exists (select from below b where b.id = n.id)
