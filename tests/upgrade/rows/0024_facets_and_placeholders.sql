-- The version of a table, as a dataset event stated it.
insert into design_facets (tenant_id, asset_id, facets)
select tenant_id, id, '{"dataset:version": ["2026-03-01T00:00:00.000000Z/event", {"datasetVersion": "7"}]}'
from known where name = 'shop.customers';
