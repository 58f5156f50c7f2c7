-- Two jobs may claim one edge in two partitions: the second waits here and sees what the first has written. The order
-- prevents deadlocks.
with locked as materialized (
  select 1
  from touched_edges t
  join edges e on e.tenant_id = t.tenant_id and e.from_id = t.from_id and e.to_id = t.to_id and e.type = t.type
  order by t.tenant_id, t.from_id, t.to_id, t.type
  for no key update of e
)
select count(*) from locked
