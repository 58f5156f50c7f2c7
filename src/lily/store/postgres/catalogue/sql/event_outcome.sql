-- The outcome of one event: the layer it stated as it is now, the errors if it was refused, and when either happened.
select a.{values}, a.{at}, a.{clocks}, d.errors, coalesce(d.refused_at, c.committed_at, p.applied_at)
from (values (%(tenant)s::text, %(id)s::uuid, %(topic)s::text, %(partition)s::integer, %(offset)s::bigint))
       as asked (tenant_id, id, topic, partition, "offset")
left join assets a on a.tenant_id = asked.tenant_id and a.id = asked.id
left join dead_letters d on d.tenant_id = asked.tenant_id and d.topic = asked.topic
                        and d.partition = asked.partition and d."offset" = asked."offset"
left join applied p on p.topic = asked.topic and p.partition = asked.partition
left join lateral (
  select committed_at from changes
  where tenant_id = asked.tenant_id and asset_id = asked.id and layer = %(layer)s
    and causes @> jsonb_build_array(jsonb_build_object('id', %(event)s::text))
  order by position desc
  limit 1
) c on true
