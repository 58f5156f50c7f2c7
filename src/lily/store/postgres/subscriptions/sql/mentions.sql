select m.key, jsonb_build_object('name', m.name, 'handles', m.handles)
from mentions m
where m.tenant_id = %(tenant)s and m.key > %(beyond)s and (%(key)s::text is null or m.key = %(key)s)
order by m.key
limit %(limit)s
