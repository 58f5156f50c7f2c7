-- An event that was replayed and failed again is the same dead letter with a new cause.
insert into dead_letters (batch_id, tenant_id, topic, partition, "offset", key, original, errors)
values (%(batch)s, %(tenant)s, %(topic)s, %(partition)s, %(offset)s, %(key)s, %(original)s, %(errors)s)
on conflict (topic, partition, "offset") do update
set batch_id = excluded.batch_id, errors = excluded.errors, refused_at = clock_timestamp(), replayed_at = null
