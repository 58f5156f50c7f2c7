with decided as (
  insert into notification_mutes as m (tenant_id, id, asset_id, kind, until, reason, by)
  values (%(tenant)s, %(id)s, %(asset)s, %(kind)s, %(until)s, %(reason)s, %(by)s)
  on conflict (tenant_id, id) do update set reason = excluded.reason
  returning m.id::text as name, null::jsonb as before,
            jsonb_build_object('id', m.id, 'asset', m.asset_id, 'kind', m.kind, 'until', utc_stamp(m.until),
                               'reason', m.reason, 'by', m.by, 'created_at', utc_stamp(m.created_at)) as after
)
