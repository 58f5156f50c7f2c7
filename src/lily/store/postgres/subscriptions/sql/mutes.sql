-- Those that have not ended, by id.
select m.id::text,
       jsonb_build_object('id', m.id, 'asset', m.asset_id, 'kind', m.kind, 'until', utc_stamp(m.until),
                          'reason', m.reason, 'by', m.by, 'created_at', utc_stamp(m.created_at))
from notification_mutes m
where m.tenant_id = %(tenant)s and m.id > %(beyond)s::uuid and (m.until is null or m.until > clock_timestamp())
order by m.id
limit %(limit)s
