-- The errors of the records that the pipeline refused at these offsets.
select d.errors
from unnest(%(partitions)s::int[], %(offsets)s::bigint[]) as a (partition, "offset")
join dead_letters d on d.tenant_id = %(tenant)s and d.topic = %(topic)s
                   and d.partition = a.partition and d."offset" = a."offset"
order by d.partition, d."offset"
limit %(limit)s
