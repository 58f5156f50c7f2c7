-- The owner of customers travels to what is derived from it and has none; its statements are applied.
insert into propagation_rules (tenant_id, key, name, attribute, mode)
select id, 'owners', 'Owners', 'owner', 'set-if-empty' from tenants;
insert into derived_attributes (tenant_id, rule, asset_id, attribute, item, value, via, depth, stated)
select k.tenant_id, 'owners', k.id, 'owner', '', to_jsonb(k.person), d.via, d.depth, true
from derived_tags d join known k on k.id = d.asset_id
where d.tag = 'pii';
insert into batches default values;
insert into rule_statements (batch_id, tenant_id, asset_id, body)
select (select max(id) from batches), d.tenant_id, d.asset_id,
       jsonb_build_object('by', 'rule:owners', 'layer', 'enriched', 'operation', 'upsert', 'qualified_name', k.name,
                          'attributes', jsonb_build_object('owner', d.value))
from derived_attributes d join known k on k.id = d.asset_id;
update assets a
set enriched = coalesce(a.enriched, '{}') || jsonb_build_object('owner', d.value),
    enriched_at = '2026-01-06T00:00:00.000000Z/rule',
    enriched_clocks = case when a.enriched is not null then jsonb_build_object('description', a.enriched_at) end,
    version = a.version + 1, updated_at = '2026-01-06 00:00:00Z'
from derived_attributes d
where d.tenant_id = a.tenant_id and d.asset_id = a.id;
