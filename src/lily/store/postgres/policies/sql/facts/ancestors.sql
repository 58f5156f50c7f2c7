-- The given assets and everything above them. The graph has the parents of columns that have lineage and are only in the
-- lake. A hierarchy with a cycle ends, because `up` holds each ancestor once. `offset 0` keeps the planner from joining with
-- the whole table, which it prefers for a tenant that it has no statistics of.
with recursive up (id, qualified_name, parent, data_source) as (
  select g.id, n.qualified_name, n.parent, n.data_source
  from unnest(%(ids)s::uuid[]) as g (id)
  left join lateral (
    select s.qualified_name, s.parent::uuid as parent, s.data_source
    from assets s where s.tenant_id = %(tenant)s and s.id = g.id
    union all
    select c.qualified_name, c.parent, null from graph_nodes c where c.tenant_id = %(tenant)s and c.id = g.id
    limit 1
  ) n on true
  union
  select up.parent, n.qualified_name, n.parent, n.data_source
  from up left join lateral (
    select s.qualified_name, s.parent::uuid as parent, s.data_source
    from assets s where s.tenant_id = %(tenant)s and s.id = up.parent offset 0
  ) n on true
  where up.parent is not null
)
select id::text, qualified_name, parent::text, data_source from up
