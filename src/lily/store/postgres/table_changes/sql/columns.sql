-- The columns of tables that may not be shown as such: what is named directly below a table, whatever somebody has stated it to
-- be, and columns that were moved away without authority, so that the table is a held parent of theirs (decision 48). The ids
-- of what is named directly below a table are between two ids.
with tables as materialized (
  select t.*, coalesce(
      (select coalesce(a.entity_type = any (%(types)s::text[]), true) or has_lake_columns(%(tenant)s, a.id, a.qualified_name)
       from assets a where a.tenant_id = %(tenant)s and a.id = t.id), true) as is_table
  from unnest(%(names)s::text[], %(ids)s::uuid[], %(firsts)s::uuid[], %(lasts)s::uuid[]) as t (name, id, first, last)
)
select t.name, c.id::text, c.qualified_name, c.name, c.is_deleted, c.is_cut
from tables t
cross join lateral (
  select a.id, a.qualified_name, a.name, a.is_deleted, a.is_cut from assets a
  where a.tenant_id = %(tenant)s and a.id between t.first and t.last
    and starts_with(a.qualified_name, t.name) and substr(a.qualified_name, length(t.name) + 1) ~ '^[./][^./]+$'
    and (t.is_table or a.parent = t.id::text or t.id = any (a.held_parents))
  union all
  select g.id, g.qualified_name, g.name, g.is_deleted, false from graph_nodes g
  where g.tenant_id = %(tenant)s and g.id between t.first and t.last and t.is_table
    and starts_with(g.qualified_name, t.name) and substr(g.qualified_name, length(t.name) + 1) ~ '^[./][^./]+$'
  union all
  select a.id, a.qualified_name, a.name, a.is_deleted, a.is_cut
  from held_parents h join assets a on a.tenant_id = %(tenant)s and a.id = h.id
  where h.tenant_id = %(tenant)s and h.parent = t.id and a.entity_type = any (%(columns)s::text[])
) c
