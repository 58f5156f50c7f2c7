-- The assets from which these may have a tag, one step back: along edges, those that have the tag; up the hierarchy, every
-- parent, because inherited tags are not always stored. From a parent on, only content counts: an influence is not inherited.
with {edge_neighbours},
steps as (
  select id, via, hops, content from along_edges where not (content and influences)
  union all
  select coalesce(a.parent::uuid, g.parent, case when n.id = %(start)s::uuid then %(parent)s::uuid end), n.id, 0, true
  from frontier n
  left join assets a on a.tenant_id = %(tenant)s and a.id = n.id
  left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = n.id and a.id is null
  union all
  select h.parent, n.id, 0, true from frontier n cross join lateral held_parents_of(%(tenant)s, n.id) h
)
select distinct on (s.id, s.content) s.id::text, s.via::text, s.hops, s.content, %(tag)s = any (coalesce(a.stated, '{{}}'))
from steps s
left join assets a on a.tenant_id = %(tenant)s and a.id = s.id
where s.id is not null
  and not (%(cut)s and coalesce(a.is_cut, false))
  and (%(tag)s = any (coalesce(a.stated, '{{}}'))
       or %(tag)s <> all (coalesce(a.suppressed, '{{}}'))
          and (s.hops = 0 or exists (
            select from derived_tags d
            where d.tenant_id = %(tenant)s and d.tag = %(tag)s and d.asset_id = s.id
              and not (s.content and d.kind = 'influenced'))))
order by s.id, s.content, s.hops
