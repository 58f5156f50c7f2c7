-- The refused records with the keys of these assets. Keys can be of any length and content, so the index has their hashes.
select a.tenant_id, a.id, d.topic, d.partition, d."offset"
from unnest(%(tenants)s::text[], %(ids)s::text[]) as a (tenant_id, id)
cross join lateral (
  select topic, partition, "offset" from dead_letters d
  where d.tenant_id = a.tenant_id and md5(d.key) = md5(convert_to(a.tenant_id || '/' || a.id, 'UTF8'))
    and d.topic = any (%(topics)s)
  offset 0
) d
