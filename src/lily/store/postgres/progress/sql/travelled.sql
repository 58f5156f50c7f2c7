-- Whether the batches that applied these positions of the log have been published, and where the change log ended then.
-- A batch that is not there any more was published long ago; one that never was had nothing to tell.
select b.published_at is not null, b.ends
from unnest(%(topics)s::text[], %(partitions)s::integer[], %(offsets)s::bigint[]) as asked (topic, partition, "offset")
cross join lateral (
  select published_at, ends, begin_offset from batches b
  where b.topic = asked.topic and b.partition = asked.partition and b.end_offset > asked."offset"
  order by b.end_offset
  limit 1
) b
where b.begin_offset <= asked."offset"
