-- The outcome of one event: the layer it stated as it is now, the errors if it was refused, and when either happened. A
-- caller can make up a receipt, so the letter at its position counts only if it is about the asset that was authorised.
select a.{values}, a.{at}, a.{clocks}, d.errors, coalesce(d.refused_at, c.committed_at, p.applied_at)
from (values (%(tenant)s::text, %(id)s::uuid, %(topic)s::text, %(partition)s::integer, %(offset)s::bigint))
       as given (tenant_id, id, topic, partition, "offset")
left join assets a on a.tenant_id = given.tenant_id and a.id = given.id
left join dead_letters d on d.tenant_id = given.tenant_id and d.topic = given.topic
                        and d.partition = given.partition and d."offset" = given."offset"
                        and d.key = convert_to(given.tenant_id || '/' || given.id, 'UTF8')
left join applied p on p.topic = given.topic and p.partition = given.partition
left join lateral (
  select committed_at from changes
  where tenant_id = given.tenant_id and asset_id = given.id and layer = %(layer)s
    and causes @> jsonb_build_array(jsonb_build_object('id', %(event)s::text))
  order by position desc
  limit 1
) c on true
