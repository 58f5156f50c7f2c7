-- The columns of tables that PostgreSQL knows: assets with the table as their parent, assets that are named below it in any
-- case, and nodes of the graph that only the lake has.
(select a.parent, a.qualified_name, a.name, d.data_type
 from assets a
 cross join lateral (
   select coalesce(a."user" ->> 'data_type', a.enriched ->> 'data_type', a.source ->> 'data_type', '') as data_type) d
 where a.tenant_id = %(tenant)s and a.parent = any (%(tables)s::text[]) and a.entity_type = any (%(types)s::text[]))
union
(select t.id::text, a.qualified_name, a.name,
        coalesce(a."user" ->> 'data_type', a.enriched ->> 'data_type', a.source ->> 'data_type', '')
 from ids_by_name_in_any_case(%(names)s::text[], true) b
 join unnest(%(tables)s::uuid[], %(names)s::text[]) as t (id, name) on t.name = b.name
 join assets a on a.tenant_id = %(tenant)s and a.id = b.id)
union
(select g.parent::text, g.qualified_name, g.name, ''
 from graph_nodes g
 where g.tenant_id = %(tenant)s and g.parent = any (%(tables)s::uuid[]) and g.qualified_name is not null)
limit %(limit)s
