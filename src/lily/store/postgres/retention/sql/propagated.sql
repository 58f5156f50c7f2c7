-- Deletes what propagation published: nothing reads it once its batch is gone, which housekeeping deletes a day after it was
-- published. Walks in the order of batches.
with looked as materialized (
  select p.ctid as row, p.batch_id, p.position, p.committed_at < now() - %(keep)s::interval as is_old
  from propagated p
  where (p.batch_id, p.position) > (%(batch)s, %(position)s)
  order by p.batch_id, p.position
  limit %(most)s
),
gone as (
  delete from propagated p
  where p.ctid = any (array(select row from looked where is_old))
    and not exists (select from batches b where b.id = p.batch_id)
  returning 1
)
select (select count(*) from gone), last.batch_id, last.position
from (values (1)) as one (row)
left join (
  select batch_id, position, count(*) over () as rows, bool_or(is_old) over () as any_old from looked
  order by batch_id desc, position desc limit 1
) last on last.rows = %(most)s and last.any_old
