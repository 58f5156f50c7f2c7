-- Idempotent: a batch that is applied again has its dead letters already.
insert into dead_letters (batch_id, tenant_id, topic, partition, "offset", key, original, errors)
values (%(batch)s, %(tenant)s, %(topic)s, %(partition)s, %(offset)s, %(key)s, %(original)s, %(errors)s)
on conflict (topic, partition, "offset") do nothing
