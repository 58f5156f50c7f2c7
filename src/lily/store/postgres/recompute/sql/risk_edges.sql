-- The edges along which risks travel: any type, masked or not.
select from_id::text, to_id::text from edges where tenant_id = %(tenant)s and not is_deleted and propagates
