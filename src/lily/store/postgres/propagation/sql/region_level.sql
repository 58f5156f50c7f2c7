-- The steps that a tag could take from these assets: along the edges that it passes, and down the hierarchy. Unlike those of
-- dry_run_level.sql, all of them, and also to assets that are not in the graph, and from parents that have it as an influence
-- only (`taken` is false then). With what of the tag each asset has itself.
with {edge_neighbours},
steps as (
  select id, via, hops, content and not influences as content, influences, true as taken from along_edges
  union
  select g.id, n.id, 0, true, false, n.content
  from frontier n cross join lateral conducting_children(%(tenant)s, n.id) g
  union
  select a.id, n.id, 0, true, false, n.content
  from frontier n join assets a on a.tenant_id = %(tenant)s and a.parent = n.id::text
)
select s.id::text, s.via::text, s.hops, s.content, s.influences, s.taken, %(tag)s = any (coalesce(a.stated, '{{}}')),
       %(tag)s = any (coalesce(a.suppressed, '{{}}')), %(cut)s and coalesce(a.is_cut, false)
from steps s left join assets a on a.tenant_id = %(tenant)s and a.id = s.id
