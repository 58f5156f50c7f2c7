-- The neighbours of these assets along the edges that the tag passes, in the direction from `here` to `there`. `content`
-- is what the search states of the asset that it comes from.
frontier as (select f.id, f.content from unnest(%(ids)s::uuid[], %(contents)s::boolean[]) as f (id, content)),
definition as (select f from tags f where f.tenant_id = %(tenant)s and f.key = %(tag)s and f.propagates),
along_edges as (
  select e.{there} as id, n.id as via, 1 as hops, n.content, e.type = 'influences' as influences
  from frontier n cross join definition
  join edges e on e.tenant_id = %(tenant)s and e.{here} = n.id
  where (definition.f).direction <> 'upstream' and passes(e, definition.f)
  union all
  select e.{here}, n.id, 1, n.content, e.type = 'influences'
  from frontier n cross join definition
  join edges e on e.tenant_id = %(tenant)s and e.{there} = n.id
  where (definition.f).direction <> 'downstream' and passes(e, definition.f)
)
