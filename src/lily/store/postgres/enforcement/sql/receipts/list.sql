-- One page of receipts. A receipt fails or drifts with its table.
select jsonb_build_object(
         'target', t.name, 'target_key', r.target, 'asset_id', r.asset_id, 'qualified_name', r.qualified_name, 'tag', r.tag,
         'table', array_to_string(r.path, '.'), 'withdrawn', r.is_withdrawn, 'state', s.state,
         'requested_at', utc_stamp(r.requested_at),
         'confirmed_at', utc_stamp(case when s.state <> 'requested' then r.confirmed_at end),
         'drift_at', utc_stamp(e.drift_at), 'error', s.error)
from enforcement_receipts r
join enforcement_targets t on t.tenant_id = %(tenant)s and t.key = r.target
left join enforcement_tables e on e.tenant_id = %(tenant)s and e.target = r.target and e.path = r.path
cross join lateral (
  select case
           when e.error is not null and r.confirmed_at is null then 'failed'
           when r.confirmed_at is null and t.failures > 0 then 'failed'
           when r.confirmed_at is null or (e.announced is not null and e.error is null) then 'requested'
           when e.error is not null and e.drift_at > e.confirmed_at then 'drift'
           else 'confirmed'
         end as state,
         case when r.confirmed_at is null or e.drift_at > e.confirmed_at then coalesce(e.error, t.error) end as error
) s
where r.tenant_id = %(tenant)s
  and (%(target)s::text is null or r.target = %(target)s)
  and (%(asset)s::uuid is null or r.asset_id = %(asset)s::uuid)
  and (%(tag)s::text is null or r.tag = %(tag)s)
  and (%(state)s::text is null or s.state = %(state)s)
  and (%(after_target)s::text is null
       or (r.target, r.asset_id, r.tag) > (%(after_target)s, %(after_asset)s::uuid, %(after_tag)s))
order by r.target, r.asset_id, r.tag
limit %(limit)s
