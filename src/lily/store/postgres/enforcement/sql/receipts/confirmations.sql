-- When each target had been brought in line with what was committed before a time.
select jsonb_build_object(
         'target', t.name,
         'state', case when c.at is not null then 'confirmed' when t.failures > 0 then 'failed' else 'requested' end,
         'confirmed_at', utc_stamp(c.at), 'error', case when c.at is null then t.error end)
from enforcement_targets t
left join lateral (
  select r.finished_at as at
  from enforcement_runs r
  where r.tenant_id = %(tenant)s and r.target = t.key and r.error is null and r.began_at >= %(since)s::timestamptz
  order by r.began_at
  limit 1
) c on true
where t.tenant_id = %(tenant)s and not t.is_removed
order by t.key
