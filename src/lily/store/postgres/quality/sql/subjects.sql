-- What is known of assets: one row for each id. `deleted_at` and `private_at` are the times of the statements that say so
-- now; a source that states the same again moves them.
select i.id::text, coalesce(a.qualified_name, g.qualified_name, i.id::text), a.id is not null, coalesce(a.entity_type, ''),
       coalesce(a.data_source, ''), (a.created_at at time zone 'UTC')::date,
       case when a.is_deleted then left(case when ("user" ->> '$deleted')::boolean
                                             then coalesce(user_clocks ->> '$deleted', user_at)
                                             else coalesce(source_clocks ->> '$deleted', source_at) end, 27)::timestamptz end,
       case when %(private)s = any (a.tags) then left(greatest(
              case when source -> 'tags' ? %(private)s
                   then coalesce(source_clocks -> 'tags' ->> %(private)s, source_at) end,
              case when enriched -> 'tags' ? %(private)s
                   then coalesce(enriched_clocks -> 'tags' ->> %(private)s, enriched_at) end,
              case when "user" -> 'tags' ? %(private)s
                   then coalesce(user_clocks -> 'tags' ->> %(private)s, user_at) end), 27)::timestamptz end,
       coalesce(d.downstream, 0), first.day, last.day, recent.days, recent.queries
from unnest(%(ids)s::uuid[]) as i (id)
left join assets a on a.tenant_id = %(tenant)s and a.id = i.id
left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = i.id
left join lateral (
  select u.day from usage_days u where u.asset_id = i.id and u.tenant_id = %(tenant)s order by u.day limit 1
) first on true
left join lateral (
  select u.day from usage_days u
  where u.asset_id = i.id and u.tenant_id = %(tenant)s and u.queries > 0 order by u.day desc limit 1
) last on true
left join lateral (
  select array_agg(u.day) as days, array_agg(u.queries) as queries
  from usage_days u where u.asset_id = i.id and u.tenant_id = %(tenant)s and u.day >= %(since)s
) recent on true
left join lateral (
  -- From it or from what is below it. Only what has edges below it is in `graph_nodes`.
  with recursive below (id) as (
    select i.id
    union
    select n.id from below b join graph_nodes n on n.parent = b.id and n.tenant_id = %(tenant)s
  )
  select count(distinct e.to_id) as downstream
  from below b
  join edges e on e.from_id = b.id and e.tenant_id = %(tenant)s and not e.is_deleted
  where not exists (select from assets t where t.tenant_id = %(tenant)s and t.id = e.to_id and t.is_deleted)
) d on %(downstream)s
