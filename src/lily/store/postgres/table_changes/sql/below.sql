-- What is below a table: columns and the fields of structs, as assets, as nodes of the graph, and as ends that edges have
-- named. `columns` are the ids of those that may not be shown as columns of the table; below a column everything is a field. The
-- last column is whether it is shown as a column. The ids of what is named directly below a table are between two ids. A cycle
-- ends, because each is found once.
with recursive below (id) as (
  select unnest(%(table)s::uuid || %(columns)s::uuid[])
  union
  select c.id
  from below b
  cross join lateral (
    select a.id from assets a
    where a.tenant_id = %(tenant)s and a.parent = b.id::text
      and (a.entity_type in ('column', 'field', 'bi_field') or b.id <> %(table)s::uuid)
    union all
    select g.id from graph_nodes g
    where g.tenant_id = %(tenant)s and g.parent = b.id and g.entity_type in ('column', 'field', 'bi_field')
    union all
    select h.id from held_parents h
    where h.tenant_id = %(tenant)s and h.parent = b.id and b.id <> %(table)s::uuid
  ) c
)
select a.qualified_name, a.name, coalesce(a.source, '{}') || coalesce(a.enriched, '{}') || coalesce(a."user", '{}'),
       a.is_deleted, a.created_at, a.updated_at,
       coalesce(a.entity_type in ('column', 'field', 'bi_field'), false)
       and (a.parent is null or a.parent in (select p.id::text from below p))
from below b join assets a on a.tenant_id = %(tenant)s and a.id = b.id
where b.id <> %(table)s::uuid
union all
select g.qualified_name, g.name, null, g.is_deleted, null, null, true
from below b join graph_nodes g on g.tenant_id = %(tenant)s and g.id = b.id
where b.id <> %(table)s::uuid and g.qualified_name is not null
union all
select n.qualified_name, null, null, false, null, null, true
from named_ends n
where n.tenant_id = %(tenant)s and n.id between %(first)s::uuid and %(last)s::uuid
  and starts_with(n.qualified_name, %(prefix)s)
  and not exists (select from below b where b.id = n.id)
