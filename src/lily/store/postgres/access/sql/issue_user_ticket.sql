insert into tickets (hash, tenant_id, expires_at, user_name, scopes, groups, issuer, valid_until)
values (
  %(hash)s, %(tenant)s, now() + make_interval(secs => %(seconds)s),
  %(user)s, %(scopes)s::text[], %(groups)s::text[], %(issuer)s, to_timestamp(%(valid_until)s)
)
on conflict do nothing
returning true
