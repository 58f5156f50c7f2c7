-- Of the old commits of the lake, the last one of each hour stays: reads of the past are as exact as that. The newest commit of
-- all always stays. Shared by all tenants.
with looked as materialized (
  select l.number, l.committed_at < now() - %(keep)s::interval as is_old, date_trunc('hour', l.committed_at) as hour
  from lake_batches l
  where l.number > %(batch)s
  order by l.number
  limit %(most)s
),
gone as (
  delete from lake_batches b using looked l
  where b.number = l.number and l.is_old and l.hour = (
    select date_trunc('hour', n.committed_at) from lake_batches n where n.number > l.number order by n.number limit 1)
  returning 1
)
select (select count(*) from gone),
       case when (select count(*) = %(most)s and bool_or(is_old) from looked) then (select max(number) from looked) end, 0
