-- A run that was left unfinished: an asset has yet to pass a tag on.
insert into propagation_runs (tenant_id, began, marked) select id, '2026-01-10', true from tenants;
insert into propagation_pages (tenant_id, step, tags, ids, roots, depths, steps, content)
select id, 'frontier', array['pii'], array['00000000-0000-8000-8000-000000000001'::uuid],
       array['00000000-0000-8000-8000-000000000001'::uuid], array[1], array[1], array[true]
from tenants;
