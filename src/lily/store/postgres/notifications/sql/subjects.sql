-- What filters look at: type, name, owner (its own or that of the nearest ancestor), tags (stated, propagated, inherited) and
-- ancestors of assets. `above` has for each the id of the name before the last separator: a plain column is only in the lake,
-- and counts as below a stored asset of that name. A hierarchy with a cycle ends after 20 steps.
with recursive known as materialized (
  select w.id, coalesce(a.entity_type, g.entity_type) as entity_type,
         coalesce(a.qualified_name, g.qualified_name) as qualified_name, a.owner, a.tags, a.suppressed,
         coalesce(a.parent::uuid, g.parent, p.id) as parent
  from unnest(%(ids)s::uuid[], %(above)s::uuid[]) as w (id, above)
  left join assets a on a.tenant_id = %(tenant)s and a.id = w.id
  left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = w.id and a.id is null
  left join assets p on p.tenant_id = %(tenant)s and p.id = w.above and a.id is null and g.parent is null
),
up (id, ancestor, step) as (
  select id, parent, 1 from known where parent is not null
  union
  select up.id, a.parent::uuid, up.step + 1
  from up join assets a on a.tenant_id = %(tenant)s and a.id = up.ancestor
  where a.parent is not null and up.step < 20
),
above as (
  select up.id, array_agg(distinct up.ancestor::text) as ancestors,
         (array_agg(a.owner order by up.step) filter (where a.owner is not null))[1] as owner
  from up left join assets a on a.tenant_id = %(tenant)s and a.id = up.ancestor
  group by up.id
),
tagged as (
  select t.id, array_agg(distinct t.tag) as tags
  from (
    select k.id, unnest(k.tags) as tag from known k
    union all
    select k.id, d.tag from known k join derived_tags d on d.tenant_id = %(tenant)s and d.asset_id = k.id
    where not d.tag = any (coalesce(k.suppressed, '{}'))
    union all
    select up.id, unnest(a.tags) from up join assets a on a.tenant_id = %(tenant)s and a.id = up.ancestor
    union all
    select up.id, d.tag from up join derived_tags d on d.tenant_id = %(tenant)s and d.asset_id = up.ancestor
    where d.kind <> 'influenced'
  ) t
  group by t.id
)
select k.id::text, k.entity_type, k.qualified_name, coalesce(k.owner, above.owner), tagged.tags, above.ancestors
from known k
left join above on above.id = k.id
left join tagged on tagged.id = k.id
