-- Returns the pairs that are new.
insert into incident_assets (tenant_id, incident_id, asset_id)
select distinct %(tenant)s, p.incident_id, p.asset_id
from unnest(%(ids)s::uuid[], %(assets)s::uuid[]) as p (incident_id, asset_id)
on conflict do nothing
returning incident_id::text, asset_id::text
