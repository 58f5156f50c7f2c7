-- A tag that an asset had for a month.
insert into derived_tag_history (tenant_id, tag, asset_id, kind, via, depth, steps, since, until)
select id, 'gdpr', gen_random_uuid(), 'propagated', gen_random_uuid(), 1, 1, '2026-01-01', '2026-02-01' from tenants;
