-- The assets that a tag would reach from these, one step on: along the edges that it passes, and down the hierarchy to
-- the assets that are in the graph, unless it is an influence only.
with {edge_neighbours},
steps as (
  select id, via, hops, content and not influences as content from along_edges
  union all
  select g.id, n.id, 0, true
  from frontier n cross join lateral conducting_children(%(tenant)s, n.id) g
  where n.content
)
select distinct on (s.id, s.content) s.id::text, s.via::text, s.hops, s.content, a.qualified_name,
       has.stated or exists (
         select from derived_tags d where d.tenant_id = %(tenant)s and d.tag = %(tag)s and d.asset_id = s.id) as already,
       lacks.suppressed,
       not lacks.suppressed and not (%(cut)s and coalesce(a.is_cut, false)) as conducts
from steps s
left join assets a on a.tenant_id = %(tenant)s and a.id = s.id
cross join lateral (select %(tag)s = any (coalesce(a.stated, '{{}}')) as stated) has
cross join lateral (select not has.stated and %(tag)s = any (coalesce(a.suppressed, '{{}}')) as suppressed) lacks
order by s.id, s.content, s.hops, s.via
