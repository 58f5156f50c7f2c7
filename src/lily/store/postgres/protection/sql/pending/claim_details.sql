-- Those of these claims that conduct tags that their edge does not show, with the tags.
select k.n, t.tags, h.ended_by, h.ended_at, h.newest
from unnest(%(numbers)s::int[], %(first)s::uuid[], %(second)s::uuid[], %(third)s::uuid[], %(texts)s::text[])
     as k (n, job_id, from_id, to_id, type)
cross join lateral (
  select h.masking, h.ended_by, to_char(h.ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ended_at,
         max(h.at) over () as newest
  from held_claims h
  where h.tenant_id = %(tenant)s and h.job_id = k.job_id and h.from_id = k.from_id and h.to_id = k.to_id and h.type = k.type
  order by h.masking limit 1
) h
join edges e on e.tenant_id = %(tenant)s and e.from_id = k.from_id and e.to_id = k.to_id and e.type = k.type
cross join lateral (
  select least(case when h.masking then 1 else 2 end, e.conduction)::smallint as conducts,
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
where t.tags is not null
