-- Deletes old changes of edges that were published. The newest of an edge that conducts more than it shows stays as long as it
-- does: it has who ended the edge. Walks in the order of batches.
with looked as materialized (
  select c.ctid as row, c.batch_id, c.position, c.committed_at < now() - %(keep)s::interval as is_old
  from edge_changes c
  where (c.batch_id, c.position) > (%(batch)s, %(position)s)
  order by c.batch_id, c.position
  limit %(most)s
),
gone as (
  delete from edge_changes c
  where c.ctid = any (array(select row from looked where is_old))
    and not exists (select from batches b where b.id = c.batch_id)
    and not (c.after @> '{"held": true}' and exists (
      select from edges e
      where e.tenant_id = c.tenant_id and e.from_id = c.from_id and e.to_id = c.to_id and e.type = c.type
        and (e.conduction > 0 and (e.is_deleted or not e.propagates) or e.conduction = 2 and e.masking)))
  returning 1
)
select (select count(*) from gone), last.batch_id, last.position
from (values (1)) as one (row)
left join (
  select batch_id, position, count(*) over () as rows, bool_or(is_old) over () as any_old from looked
  order by batch_id desc, position desc limit 1
) last on last.rows = %(most)s and last.any_old
