-- An open incident with a history, an asset of its own, one downstream, a name that no asset has, and a check that passed.
insert into incidents (tenant_id, incident_id, source, external_id, state, severity, title, series, fields, opened_at)
select id, '00000000-0000-8000-8000-000000000013', 'monte-carlo', 'inc-1', 'open', 'warning', 'No rows', 'orders',
       '{"title": [0, "No rows"]}', '2026-02-01'
from tenants;
insert into incident_passes (tenant_id, source, series, passed_at) select id, 'monte-carlo', 'orders', '2026-01-31' from tenants;
insert into incident_assets (tenant_id, incident_id, asset_id)
select id, '00000000-0000-8000-8000-000000000013', '00000000-0000-8000-8000-000000000014' from tenants;
insert into incident_names (tenant_id, folded, incident_id, name, source, since)
select id, 'shop.gone', '00000000-0000-8000-8000-000000000013', 'shop:gone', 'monte-carlo', '2026-02-01' from tenants;
insert into incident_history (tenant_id, incident_id, event_id, at, by, change)
select id, '00000000-0000-8000-8000-000000000013', 'monte-carlo-1', '2026-02-01', '', '{"state": "open"}' from tenants;
insert into at_risk (tenant_id, asset_id, incident_id)
select id, '00000000-0000-8000-8000-000000000014', '00000000-0000-8000-8000-000000000013' from tenants;
insert into at_risk (tenant_id, asset_id, incident_id, via)
select id, '00000000-0000-8000-8000-000000000015', '00000000-0000-8000-8000-000000000013', '00000000-0000-8000-8000-000000000014'
from tenants;
-- A secret that was replaced, and is valid for another day.
update secrets set expires_at = '2026-02-02' where name = (select min(name) from secrets);
