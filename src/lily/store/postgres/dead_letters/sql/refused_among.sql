-- Which of these records of the log were refused. A replay appends a record of its own, so these stay refused.
select d.topic, d.partition, d."offset"
from unnest(%(topics)s::text[], %(partitions)s::integer[], %(offsets)s::bigint[]) as r (topic, partition, "offset")
join dead_letters d on d.topic = r.topic and d.partition = r.partition and d."offset" = r."offset"
where d.tenant_id = %(tenant)s
