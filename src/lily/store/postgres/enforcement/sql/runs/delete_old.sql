with old_runs as (
  delete from enforcement_runs where finished_at < now() - interval '7 days' returning 1
),
receipts as (
  delete from enforcement_receipts where is_withdrawn and confirmed_at < now() - interval '7 days' returning 1
)
select (select count(*) from old_runs) + (select count(*) from receipts)
