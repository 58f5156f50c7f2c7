-- Those of these edges whose layers conduct tags that they do not show, with the tags and the newest change.
select k.n, t.tags, c.cause ->> 'by', c.cause ->> 'time'
from unnest(%(numbers)s::int[], %(first)s::uuid[], %(second)s::uuid[], %(texts)s::text[]) as k (n, from_id, to_id, type)
join edges e on e.tenant_id = %(tenant)s and e.from_id = k.from_id and e.to_id = k.to_id and e.type = k.type
cross join lateral (
  select case when e.source is null and e."user" is null then 0
              else edge_conduction(e.source, e."user", e.claimed, e.claims_mask, e.claims_mask_by_authority, 0::smallint)
         end::smallint as conducts,
         case when e.is_deleted or not e.propagates then 0 when e.masking then 1 else 2 end::smallint as shown
) w
cross join lateral (
  select array_agg(f.key order by f.key) as tags
  from tags f
  where f.tenant_id = %(tenant)s and f.propagates
    and passes(w.conducts, e.type, f) and not passes(w.shown, e.type, f)
    and (f.direction <> 'upstream' and exists (
           select from carried(%(tenant)s, f.key, e.from_id, %(cut)s) c where c.depth < coalesce(f.max_depth, c.depth + 1))
         or f.direction <> 'downstream' and exists (
           select from carried(%(tenant)s, f.key, e.to_id, %(cut)s) c where c.depth < coalesce(f.max_depth, c.depth + 1)))
) t
left join lateral (
  select c.causes -> -1 as cause
  from edge_changes c
  where c.tenant_id = %(tenant)s and c.from_id = k.from_id and c.to_id = k.to_id and c.type = k.type
    and c.after @> '{"held": true}'
  order by c.position desc limit 1
) c on true
where t.tags is not null
