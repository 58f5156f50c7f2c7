-- Receipts of tables that are in line, and of tables that the target no longer has.
update enforcement_receipts r set confirmed_at = clock_timestamp()
where r.tenant_id = %(tenant)s and r.target = %(key)s and r.confirmed_at is null
  and not exists (
    select from enforcement_tables t
    where t.tenant_id = %(tenant)s and t.target = %(key)s and t.path = r.path and t.error is not null)
