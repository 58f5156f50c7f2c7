-- The version of a table, as a dataset event stated it.
insert into design_facets (tenant_id, asset_id, facets)
select tenant_id, id, '{"dataset:version": ["2026-03-01T00:00:00.000000Z/event", {"datasetVersion": "7"}]}'
from known where name = 'shop.customers';
-- An edge named a table that no source has stated.
insert into named_ends (tenant_id, id, qualified_name, named_at)
select id, gen_random_uuid(), 'shop.unknown', '2026-03-01 00:00:00Z' from tenants;
