-- Remembers the ids of events, and returns those that are new.
insert into usage_event_ids (tenant_id, asset_id, event_id)
select tenant_id, asset_id, event_id
from unnest(%(tenants)s::text[], %(assets)s::uuid[], %(ids)s::text[]) as e (tenant_id, asset_id, event_id)
on conflict do nothing
returning tenant_id, asset_id::text, event_id
