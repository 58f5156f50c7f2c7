with target as (
  delete from enforcement_targets where tenant_id = %(tenant)s and key = %(key)s
),
schedule as (
  delete from job_schedules where tenant_id = %(tenant)s and name = %(group)s
),
runs as (
  delete from enforcement_runs where tenant_id = %(tenant)s and target = %(key)s
),
tables as (
  delete from enforcement_tables where tenant_id = %(tenant)s and target = %(key)s
),
assets as (
  delete from enforcement_assets where tenant_id = %(tenant)s and target = %(key)s
)
delete from enforcement_receipts where tenant_id = %(tenant)s and target = %(key)s
