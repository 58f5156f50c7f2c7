with run as (
  insert into enforcement_runs (tenant_id, target, began_at, finished_at, steps, drifted, error)
  values (%(tenant)s, %(key)s, %(began)s, clock_timestamp(), %(steps)s, %(drifted)s, %(error)s)
)
update enforcement_targets t
set tables = coalesce(%(tables)s::integer, t.tables), columns = coalesce(%(columns)s::integer, t.columns),
    findings = coalesce(%(findings)s::jsonb, t.findings),
    confirmed_at = case when %(error)s::text is null then clock_timestamp() else t.confirmed_at end,
    failed_at = case when %(error)s::text is null then t.failed_at else clock_timestamp() end,
    failures = case when %(error)s::text is null then 0 else t.failures + 1 end,
    error = %(error)s
where t.tenant_id = %(tenant)s and t.key = %(key)s
