-- Whether something committed has not been propagated yet: it is not published, or published and not read by propagation,
-- or parked.
select exists (select from batches where published_at is null)
       or exists (select from parked_tenants where reaction = %(reaction)s)
       or exists (
  select from (select ends from batches where ends is not null order by id desc limit 1) as last
  cross join lateral jsonb_each(last.ends) as topic (name, partitions)
  cross join lateral jsonb_each_text(topic.partitions) as place (partition, "end")
  left join applied a on a.topic = topic.name || '@' || %(reaction)s and a.partition = place.partition::integer
  where place."end"::bigint > coalesce(a.next_offset, 0)
)
