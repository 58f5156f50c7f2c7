-- The edges by which something may come to these assets, the way data flows.
select from_id::text, to_id::text, type
from edges
where to_id = any (%(ids)s::uuid[]) and tenant_id = %(tenant)s and not is_deleted and propagates and from_id <> to_id
