-- The edges of a tenant along which attributes may propagate.
select from_id::text, to_id::text, type from edges where tenant_id = %(tenant)s and not is_deleted and propagates
