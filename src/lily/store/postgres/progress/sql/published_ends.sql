-- For each write: whether the batches that applied its positions have been published, and the end offsets of the change
-- log at that time. A batch that is gone was published long ago; one that never existed had nothing to publish.
select given.write, b.published_at is not null, b.ends
from unnest(%(writes)s::integer[], %(topics)s::text[], %(partitions)s::integer[], %(offsets)s::bigint[])
  as given (write, topic, partition, "offset")
cross join lateral (
  select published_at, ends, begin_offset from batches b
  where b.topic = given.topic and b.partition = given.partition and b.end_offset > given."offset"
  order by b.end_offset
  limit 1
) b
where b.begin_offset <= given."offset"
