-- The beginning of an asset's history has left PostgreSQL.
insert into archived_changes (tenant_id, asset_id, first_at, last_at, senders, has_first)
select id, gen_random_uuid(), '2026-01-01', '2026-02-01', '{crawler}', true from tenants;
