-- Writes a layer back that was merged field by field, and records the change if a value differs.
with merged as (
  update assets t set
{set_merged}
  where tenant_id = %(tenant_id)s and id = %(id)s
  returning old.{values} as before, new.*
)
insert into changes (batch_id, tenant_id, asset_id, qualified_name, entity_type, layer, version, before, after, causes)
select %(batch)s, tenant_id, id, qualified_name, coalesce(entity_type, %(entity_type)s), %(layer)s, version,
       before, {values}, %(causes)s
from merged
where before is distinct from {values}
