-- Marks the assets of these tenants between these ids. Of those that only the lake has, the nodes in the graph.
with given as materialized (
  select * from unnest(%(tenants)s::text[], %(first)s::uuid[], %(last)s::uuid[]) as t (tenant_id, first, last)
),
marked as (
  update assets a set awaits_lake = true
  from given g
  where a.tenant_id = g.tenant_id and a.id between g.first and g.last and not a.awaits_lake
  returning 1
),
nodes as (
  update graph_nodes n set awaits_lake = true
  from given g
  where n.id between g.first and g.last and n.tenant_id = g.tenant_id and not n.awaits_lake
    and not exists (select from assets a where a.tenant_id = n.tenant_id and a.id = n.id)
)
select count(*) from marked
