-- A column that a person tagged, so that it came from the lake and waits for the rest of its past.
insert into assets (tenant_id, id, qualified_name, "user", user_at, awaits_lake, created_at, updated_at)
select k.tenant_id, k.id, k.name,
       jsonb_build_object('tags', '{"gdpr": "GDPR"}'::jsonb, '$parent', table_.id),
       '2026-01-03T00:00:00.000000Z/column', true, '2026-01-03 00:00:00Z', '2026-01-03 00:00:00Z'
from known k join known table_ on table_.tenant_id = k.tenant_id and table_.name = 'shop.customers'
where k.name = 'shop.customers.email';

insert into iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type)
values ('lily', 'lily', 'assets', 'warehouse/assets/00001.metadata.json', 'TABLE');
insert into iceberg_namespace_properties values ('lily', 'lily', 'exists', 'true');
insert into lake_batches (number, events, positions) values (0, 10, '{"asset-ingestion-events": {"0": 10}}');
insert into lake_progress (fresh_as_of, batch) values ('2026-01-03 00:00:00Z', 0);
