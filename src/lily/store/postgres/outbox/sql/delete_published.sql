-- Deletes batches that were published long ago. Their changes stay as history. Statements of rules have become changes by
-- then, those about incidents are merged, and announcements were delivered.
with gone as (
  delete from batches where published_at < now() - %s::interval returning id
),
stated as (
  delete from rule_statements s using gone where s.batch_id = gone.id
),
announced as (
  delete from announcements a using gone where a.batch_id = gone.id
),
incidents as (
  delete from incident_statements i using gone where i.batch_id = gone.id
)
select count(*) from gone
