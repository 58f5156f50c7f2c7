select id, tenant_id, topic, partition, "offset", key, original, errors, refused_at
from dead_letters
where batch_id = any(%s)
order by id
