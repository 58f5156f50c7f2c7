with decided as (
  delete from notification_mutes m where m.tenant_id = %(tenant)s and m.id = %(id)s
  returning m.id::text as name, null::jsonb as after,
            jsonb_build_object('id', m.id, 'asset', m.asset_id, 'kind', m.kind, 'until', utc_stamp(m.until),
                               'reason', m.reason, 'by', m.by, 'created_at', utc_stamp(m.created_at)) as before
)
