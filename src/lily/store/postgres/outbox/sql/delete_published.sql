-- Deletes batches that were published long ago. Their changes stay as history. Statements of rules have become changes by
-- then, those about incidents are merged, and announcements were delivered. Until propagation has read a batch, decisions look
-- at it; after 30 days the log has lost what it did not read.
with gone as (
  delete from batches where published_at < now() - %s::interval
    and (is_propagated(ends) or now() - published_at > interval '30 days')
  returning id
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
