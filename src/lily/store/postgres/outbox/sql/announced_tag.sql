-- The defined name of the tag, and the origin from which the root has it: the end of its chain of supports.
with recursive supports (id, step, content) as (
  select %(root)s::uuid, 0, false
  union all
  select d.via, s.step + 1, s.content or d.kind <> 'influenced'
  from supports s
  cross join lateral (
    select via, kind from derived_tags d
    where d.asset_id = s.id and d.tag = %(tag)s and d.tenant_id = %(tenant)s
      and not (s.content and d.kind = 'influenced')
    order by d.depth, d.steps
    limit 1
  ) d
)
select coalesce((select name from tags where tenant_id = %(tenant)s and key = %(tag)s), %(tag)s),
       (select id::text from supports order by step desc limit 1)
