-- Puts a layer that was merged field by field back, and logs the change if a value is different now.
with merged as (
  update assets a set
    {values}   = %(fields)s,
    {at}       = %(at)s,
    {clocks}   = %(clocks)s,
    version    = a.version + (a.{values} is distinct from %(fields)s)::integer,
    created_at = least(a.created_at, %(first)s),
    updated_at = greatest(a.updated_at, %(last)s)
  where tenant_id = %(tenant_id)s and id = %(id)s
  returning old.{values} as before, new.*
)
insert into changes (batch_id, tenant_id, asset_id, qualified_name, entity_type, layer, version, before, after, causes)
select %(batch)s, tenant_id, id, qualified_name, entity_type, %(layer)s, version, before, {values}, %(causes)s
from merged
where before is distinct from {values}
