with runs as (
  delete from enforcement_runs where finished_at < now() - interval '7 days' returning 1
),
receipts as (
  delete from enforcement_receipts where is_withdrawn and confirmed_at < now() - interval '7 days' returning 1
)
select (select count(*) from runs) + (select count(*) from receipts)
