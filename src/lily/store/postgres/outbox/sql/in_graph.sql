-- Ids are unique across tenants, so edges are found without the tenant. They count beside the graph's nodes: propagation may
-- not have handled them yet. For the same reason, a parent counts where incidents are open: what it is below of may put at
-- risk what is downstream of its descendants. `offset 0` makes it look up each asset, whatever the statistics say, instead of
-- reading all nodes and edges once.
select a.id::text
from unnest(%(tenants)s::text[], %(ids)s::uuid[]) as a (tenant_id, id)
where exists (select from graph_nodes g where g.id = a.id offset 0)
   or exists (select from edges e where e.from_id = a.id offset 0)
   or exists (select from edges e where e.to_id = a.id offset 0)
   or exists (select from incidents i where i.tenant_id = a.tenant_id and i.state <> 'resolved' offset 0)
      and exists (select from assets c where c.tenant_id = a.tenant_id and c.parent = a.id::text offset 0)
