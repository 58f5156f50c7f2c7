-- Those of the assets below which the lake has columns.
select a.id::text from assets a
where a.tenant_id = %(tenant)s and a.id = any (%(ids)s::uuid[]) and has_lake_columns(%(tenant)s, a.id, a.qualified_name)
