-- Deletes decisions that were published, but for those about tags and settings: reads of the past need them, and only people
-- make them. Walks in the order of batches.
with looked as materialized (
  select d.ctid as row, d.batch_id, d.position, d.committed_at < now() - %(keep)s::interval as is_old
  from decisions d
  where (d.batch_id, d.position) > (%(batch)s, %(position)s)
  order by d.batch_id, d.position
  limit %(most)s
),
gone as (
  delete from decisions d
  where d.ctid = any (array(select row from looked where is_old))
    and d.kind not in ('tag', 'setting')
    and not exists (select from batches b where b.id = d.batch_id)
  returning 1
)
select (select count(*) from gone), last.batch_id, last.position
from (values (1)) as one (row)
left join (
  select batch_id, position, count(*) over () as rows, bool_or(is_old) over () as any_old from looked
  order by batch_id desc, position desc limit 1
) last on last.rows = %(most)s and last.any_old
