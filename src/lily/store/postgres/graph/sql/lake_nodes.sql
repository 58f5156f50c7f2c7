-- Those of the given nodes that only the lake has, without those that have to be looked up again anyway.
select g.tenant_id, g.id::text, g.parent::text, g.qualified_name, g.name, g.entity_type, g.is_deleted,
       array(select h.parent::text from held_parents h where h.id = g.id and h.tenant_id = g.tenant_id)
from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as t (tenant_id, id)
cross join lateral (
  select * from graph_nodes g where g.id = t.id and g.tenant_id = t.tenant_id and not g.awaits_lake offset 0
) g
