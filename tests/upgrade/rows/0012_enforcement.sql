-- A target that is in line, with a receipt, a run and a table that was changed by hand once.
insert into enforcement_targets (tenant_id, key, name, type, data_source, wrapped_key, sealed, tables, columns, confirmed_at)
select id, 'shop', 'Shop', 'postgres', 'shop', 'k', 's', 1, 2, '2026-02-01' from tenants;
insert into enforcement_runs (tenant_id, target, began_at, finished_at, steps, drifted)
select id, 'shop', '2026-02-01', '2026-02-01', 1, 1 from tenants;
insert into enforcement_tables (tenant_id, target, path, digest, confirmed_at, drift_at, drift)
select id, 'shop', '{shop,public,orders}', 'd', '2026-02-01', '2026-01-31', '{"found": "", "expected": "mask"}' from tenants;
insert into enforcement_assets (tenant_id, target, asset_id) select id, 'shop', gen_random_uuid() from tenants;
insert into enforcement_receipts (tenant_id, target, asset_id, tag, qualified_name, path, requested_at, confirmed_at)
select id, 'shop', gen_random_uuid(), 'pii', 'shop.public.orders', '{shop,public,orders}', '2026-02-01', '2026-02-01' from tenants;
-- A change that decisions rest on.
insert into fact_changes (tenant_id, xid, asset_id, at) select id, '7', gen_random_uuid(), '2026-02-01' from tenants;
