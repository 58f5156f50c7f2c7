-- Everything that decides who is notified, in one row.
select (select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'channel', s.channel, 'created_at', utc_stamp(s.created_at),
                                                     'body', s.body) order by s.created_at, s.id), '[]')
        from subscriptions s where s.tenant_id = %(tenant)s and (s.is_enabled or %(disabled)s)),
       (select coalesce(jsonb_object_agg(c.key, jsonb_build_array(c.name, c.type)), '{}')
        from notification_channels c where c.tenant_id = %(tenant)s),
       (select coalesce(jsonb_object_agg(m.key, m.handles), '{}') from mentions m where m.tenant_id = %(tenant)s),
       (select coalesce(jsonb_agg(jsonb_build_array(m.id, m.asset_id, m.kind, m.until, m.reason)), '[]')
        from notification_mutes m where m.tenant_id = %(tenant)s and (m.until is null or m.until > clock_timestamp()))
