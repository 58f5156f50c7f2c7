-- Channels by key: one, or the page after a key. Never their configuration.
select c.key, jsonb_build_object(
         'name', c.name, 'type', c.type, 'per_second', c.per_second,
         'created_at', utc_stamp(c.created_at), 'updated_at', utc_stamp(c.updated_at),
         'subscriptions', (select count(*) from subscriptions s where s.tenant_id = %(tenant)s and s.channel = c.key),
         'failing', (
           select coalesce(jsonb_agg(f.shown), '[]')
           from (
             select jsonb_build_object('destination', t.destination, 'failures', t.failures, 'gone', t.is_gone,
                                       'paused_until', utc_stamp(t.paused_until), 'failed_at', utc_stamp(t.failed_at),
                                       'error', t.error) as shown
             from delivery_targets t
             where t.tenant_id = %(tenant)s and t.channel = c.key
               and (t.failures > 0 or t.is_gone
                    -- A refusal counts as long as something is sent there: nothing else would end it.
                    or t.error <> '' and exists (
                      select from subscriptions s
                      where s.tenant_id = %(tenant)s and s.channel = c.key
                        and s.body ->> 'destination' in (t.destination, '@owners')))
             order by t.failed_at desc limit 100
           ) f),
         'test', c.test)
from notification_channels c
where c.tenant_id = %(tenant)s and c.key > %(beyond)s and (%(key)s::text is null or c.key = %(key)s)
order by c.key
limit %(limit)s
