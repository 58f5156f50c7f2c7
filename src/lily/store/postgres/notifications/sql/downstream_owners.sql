-- The owners of what lies downstream of assets. A column without an owner has its table's.
with recursive down (id, node) as (
  select w.id, w.id from unnest(%(ids)s::uuid[]) as w (id)
  union
  select down.id, n.node
  from down
  cross join lateral (
    select e.to_id as node from edges e
    where e.tenant_id = %(tenant)s and e.from_id = down.node and e.propagates and not e.is_deleted
    union all
    select g.id from graph_nodes g where g.tenant_id = %(tenant)s and g.parent = down.node
  ) n
)
select reached.id::text, array_agg(distinct coalesce(a.owner, p.owner))
from (select id, node from down where node <> id limit %(limit)s) reached
left join assets a on a.tenant_id = %(tenant)s and a.id = reached.node
left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = reached.node
left join assets p on p.tenant_id = %(tenant)s and p.id = coalesce(a.parent::uuid, g.parent)
where coalesce(a.owner, p.owner) is not null
group by reached.id
