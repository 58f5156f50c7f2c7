-- The edges of a tenant that let anything pass.
select from_id::text, to_id::text, type from edges where tenant_id = %(tenant)s and not is_deleted and propagates
