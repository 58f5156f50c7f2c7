-- A channel, a subscription to it with a mention and a mute, and a notification that was delivered.
insert into notification_channels (tenant_id, key, name, type, per_second, wrapped_key, sealed, created_at, updated_at)
select id, 'hook', 'Hook', 'webhook', 5, 'k', 's', '2026-03-01', '2026-03-01' from tenants;
insert into subscriptions (tenant_id, id, name, channel, is_enabled, changes, body, created_at, updated_at)
select id, gen_random_uuid(), 'changes', 'hook', true, '{created,tagged}',
       '{"name": "changes", "channel": "hook", "destination": "ops", "filters": {"kinds": ["asset.created", "tag.tagged"]}}',
       '2026-03-01', '2026-03-01'
from tenants;
insert into mentions (tenant_id, key, name, handles) select id, 'ann', 'Ann', '{"slack": "U1"}' from tenants;
insert into notification_mutes (tenant_id, id, kind, until, by, created_at)
select id, gen_random_uuid(), 'tag.*', '2026-03-02', 'ann', '2026-03-01' from tenants;
insert into notifications (tenant_id, notification_id, event_id, at, kind, severity, title, text, assets, event, created_at)
select id, gen_random_uuid(), 'change-7', '2026-03-01', 'asset.created', 'info', 'Created: shop.orders', '- shop.orders',
       array[gen_random_uuid()],
       '{"event_id": "change-7", "kinds": ["asset.created"], "severity": "info", "at": "2026-03-01T00:00:00.000000Z",
         "subjects": [], "incident": null, "tags": [], "changed": [], "by": "", "details": {}}', '2026-03-01'
from tenants;
insert into deliveries (tenant_id, delivery_id, notification_id, subscription_id, channel, destination, target, kind, state, due_at,
                        attempts, receiver_id, created_at, attempted_at, delivered_at)
select n.tenant_id, gen_random_uuid(), n.notification_id, s.id, 'hook', 'ops', 'hook/x', 'asset.created', 'delivered', '2026-03-01',
       1, 'ticket-1', '2026-03-01', '2026-03-01', '2026-03-01'
from notifications n join subscriptions s on s.tenant_id = n.tenant_id;
insert into delivery_targets (tenant_id, target, channel, destination, delivered_at)
select id, 'hook/x', 'hook', 'ops', '2026-03-01' from tenants;
insert into subscribed_tenants (tenant_id, changes) select id, '{created,tagged}' from tenants on conflict do nothing;
