select body from engine_mappings
where tenant_id = %(tenant)s and lower(body ->> 'data_source') = any (%(sources)s::text[])
order by key
