-- The edges to these assets along which an attribute may propagate.
select from_id::text, to_id::text, type
from edges
where to_id = any (%(ids)s::uuid[]) and tenant_id = %(tenant)s and not is_deleted and propagates and from_id <> to_id
