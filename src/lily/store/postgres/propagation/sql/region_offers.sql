-- What assets outside of a region offer to those in it: the tag, as content or as an influence, with the number of edges
-- from its origin. Along edges, and
-- down the hierarchy from the nearest ancestor that has the tag: what is inherited is stored for assets of the graph alone.
-- Edges and held parents may be left out.
with recursive {edge_neighbours},
left_out as (select * from unnest(%(without_starts)s::uuid[], %(without_ends)s::uuid[]) as l (start_id, end_id)),
above (id, via, level) as (
  select coalesce(a.parent::uuid, g.parent), n.id, 1
  from frontier n
  left join assets a on a.tenant_id = %(tenant)s and a.id = n.id
  left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = n.id and a.id is null
  union all
  select h.parent, n.id, 1 from frontier n cross join lateral held_parents_of(%(tenant)s, n.id) h
  where not exists (select from left_out l where l.start_id = h.parent and l.end_id = n.id)
  union all
  select coalesce(a.parent::uuid, g.parent), u.via, u.level + 1
  from above u
  left join assets a on a.tenant_id = %(tenant)s and a.id = u.id
  left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = u.id and a.id is null
  where u.id <> all (%(ids)s::uuid[]) and u.level < 64
    and %(tag)s <> all (coalesce(a.suppressed, '{{}}')) and not (%(cut)s and coalesce(a.is_cut, false))
),
steps as (
  select id, via, hops, influences from along_edges
  where not exists (select from left_out l where l.start_id = along_edges.id and l.end_id = along_edges.via)
  union
  select id, via, 0, false from above
)
select s.via::text, c.content and not s.influences, min(c.depth + s.hops)
from steps s
cross join lateral carried(%(tenant)s, %(tag)s, s.id, %(cut)s) c
where s.id <> all (%(ids)s::uuid[]) and (s.hops = 0 or c.depth < coalesce(%(max_depth)s::integer, c.depth + 1))
  and (s.hops = 1 or c.content)
group by 1, 2
