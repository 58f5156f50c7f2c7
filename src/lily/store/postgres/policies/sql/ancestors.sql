-- The given assets and everything above them. The graph has the parents of columns that have lineage and are only in the
-- lake. A hierarchy with a cycle ends, because `up` holds each ancestor once.
with recursive up (id) as (
  select unnest(%(ids)s::uuid[])
  union
  select n.parent
  from up cross join lateral (
    select s.parent::uuid as parent from assets s where s.tenant_id = %(tenant)s and s.id = up.id
    union all
    select g.parent from graph_nodes g
    where g.tenant_id = %(tenant)s and g.id = up.id
      and not exists (select from assets s where s.tenant_id = %(tenant)s and s.id = up.id)
  ) n
  where n.parent is not null
)
select up.id::text, coalesce(a.qualified_name, g.qualified_name), coalesce(a.parent, g.parent::text)
from up
left join assets a on a.tenant_id = %(tenant)s and a.id = up.id
left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = up.id and a.id is null
