-- Users as stored, and whether each is disabled, which one that is not stored can be too.
select k.key, u.body, d.disabled
from unnest(%(keys)s::text[]) as k (key)
left join users u on u.tenant_id = %(tenant)s and u.key = k.key
cross join lateral (select is_disabled(%(tenant)s, k.key) as disabled) d
where u.body is not null or d.disabled
