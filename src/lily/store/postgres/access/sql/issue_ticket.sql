insert into tickets (hash, tenant_id, token_id, expires_at)
values (%(hash)s, %(tenant)s, %(token)s::uuid, now() + make_interval(secs => %(seconds)s))
on conflict do nothing
returning true
