-- What assets are derived from: from each and what is below it in the graph along edges and up the hierarchy, as tags travel.
with recursive below (id, node) as (
  select w.id, w.id from unnest(%(ids)s::uuid[]) as w (id)
  union
  select b.id, g.id from below b join graph_nodes g on g.tenant_id = %(tenant)s and g.parent = b.node
),
up (id, node) as (
  select id, node from below
  union
  select up.id, n.node
  from up
  cross join lateral (
    select e.from_id as node from edges e
    where e.tenant_id = %(tenant)s and e.to_id = up.node and e.propagates and not e.is_deleted
    union all
    select a.parent::uuid from assets a where a.tenant_id = %(tenant)s and a.id = up.node and a.parent is not null
    union all
    select g.parent from graph_nodes g where g.tenant_id = %(tenant)s and g.id = up.node and g.parent is not null
  ) n
)
select reached.id::text, array_agg(reached.node::text)
from (select id, node from up where node <> id limit %(limit)s) reached
group by reached.id
