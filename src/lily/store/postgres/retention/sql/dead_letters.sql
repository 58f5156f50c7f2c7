-- Deletes dead letters that were published. Those of the topics that the lake records lose their original and stay: without
-- them, the past would be rebuilt from what was refused. Those of propagation stay until they are replayed: decisions are
-- careful until then.
with looked as materialized (
  select d.id, d.topic in ('asset-ingestion-events', 'asset-ingestion-events-bulk') as is_recorded
  from dead_letters d
  where d.emptied_at is null and d.id > %(batch)s and d.refused_at < now() - %(keep)s::interval
    and not (d.topic = 'governance-events@propagation' and d.replayed_at is null)
    and not exists (select from batches b where b.id = d.batch_id)
  order by d.id
  limit %(most)s
),
emptied as (
  update dead_letters d set original = null, emptied_at = now()
  from looked l where d.id = l.id and l.is_recorded
  returning 1
),
gone as (
  delete from dead_letters d using looked l
  where d.id = l.id and not l.is_recorded
  returning 1
)
select (select count(*) from emptied) + (select count(*) from gone),
       case when (select count(*) from looked) = %(most)s then (select max(id) from looked) end, 0
