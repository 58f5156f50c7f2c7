-- Nothing has failed, and nothing is confirmed. `written` marks a target whose changes a person makes.
update enforcement_targets t
set tables = %(tables)s, columns = %(columns)s, findings = %(findings)s, confirmed_at = null, failures = 0, error = null,
    plan = coalesce(t.plan, '{}') || jsonb_build_object('written', coalesce(t.plan -> 'written', '[]'))
where t.tenant_id = %(tenant)s and t.key = %(key)s
