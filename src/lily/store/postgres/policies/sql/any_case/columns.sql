-- The columns of tables that only the lake has and that have lineage, by folded name.
select g.parent::text, n.folded, g.id::text
from graph_nodes g
cross join lateral (
  select normalize(casefold(normalize(g.qualified_name, NFC) collate "pg_unicode_fast"), NFC) as folded offset 0
) n
where g.tenant_id = %(tenant)s and g.parent = any (%(tables)s::uuid[]) and n.folded = any (%(names)s::text[])
