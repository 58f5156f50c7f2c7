-- The columns of tables that PostgreSQL knows: assets, and nodes of the graph that only the lake has.
(select a.parent, a.qualified_name, a.name,
        coalesce(a."user" ->> 'data_type', a.enriched ->> 'data_type', a.source ->> 'data_type', '')
 from assets a
 where a.tenant_id = %(tenant)s and a.parent = any (%(tables)s::text[]) and a.entity_type = any (%(types)s::text[])
   and not a.is_deleted)
union all
(select g.parent::text, g.qualified_name, g.name, ''
 from graph_nodes g
 where g.tenant_id = %(tenant)s and g.parent = any (%(tables)s::uuid[]) and g.qualified_name is not null
   and not g.is_deleted)
limit %(limit)s
