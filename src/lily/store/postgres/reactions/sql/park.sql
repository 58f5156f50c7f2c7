insert into parked_events (reaction, tenant_id, topic, partition, "offset", key, value)
select %s, %s, e.topic, e.partition, e."offset", e.key, e.value
from unnest(%s::text[], %s::integer[], %s::bigint[], %s::bytea[], %s::bytea[])
     with ordinality as e (topic, partition, "offset", key, value, place)
order by e.place
