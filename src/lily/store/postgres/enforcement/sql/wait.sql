-- Nothing has failed, and nothing is confirmed.
update enforcement_targets t
set tables = %(tables)s, columns = %(columns)s, findings = %(findings)s, confirmed_at = null, failures = 0, error = null
where t.tenant_id = %(tenant)s and t.key = %(key)s
