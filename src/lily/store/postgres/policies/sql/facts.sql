-- What decisions need to know of assets, in one round trip: a row for each asset, then a row for each ancestor of any.
--
-- `above` is the id of the name before the last separator. A plain column is only in the lake, which decisions do not
-- read, so a name directly below a stored table counts as a column of it. The graph has the parents of columns that have
-- lineage. A hierarchy with a cycle ends, because `up` holds each ancestor once.
with recursive asked as (
  select q.id, q.above, q.number from unnest(%(ids)s::uuid[], %(above)s::uuid[]) with ordinality as q (id, above, number)
),
found as materialized (
  select asked.number, asked.id, a.id is not null as stored, coalesce(a.qualified_name, g.qualified_name) as qualified_name,
         coalesce(a.entity_type, g.entity_type, p.column_type) as entity_type,
         coalesce(a.data_source, p.data_source) as data_source,
         a.source_tags, a.enriched_tags, a.user_tags, coalesce(a.suppressed, '{}') as suppressed,
         a.source, a.enriched, a."user", coalesce(a.parent, g.parent, p.id) as parent, g.id is not null as in_graph
  from asked
  left join lateral (
    select s.id, s.qualified_name, s.entity_type, s.data_source, s.source -> 'tags' as source_tags,
           s.enriched -> 'tags' as enriched_tags, s."user" -> 'tags' as user_tags, s.suppressed, s.parent::uuid as parent,
           case when %(attributes)s then s.source end as source, case when %(attributes)s then s.enriched end as enriched,
           case when %(attributes)s then s."user" end as "user"
    from assets s where s.tenant_id = %(tenant)s and s.id = asked.id offset 0
  ) a on true
  left join lateral (
    select n.id, n.qualified_name, n.entity_type, n.parent
    from graph_nodes n where n.tenant_id = %(tenant)s and n.id = asked.id and a.id is null offset 0
  ) g on true
  left join lateral (
    select t.id, t.data_source, 'column' as column_type
    from assets t
    where t.tenant_id = %(tenant)s and t.id = asked.above and a.id is null and g.parent is null
      and t.entity_type = any (%(tables)s::text[]) offset 0
  ) p on true
),
up (id) as (
  select parent from found where parent is not null
  union
  select n.parent
  from up cross join lateral (
    select s.parent::uuid as parent from assets s where s.tenant_id = %(tenant)s and s.id = up.id
    union all
    select g.parent from graph_nodes g
    where g.tenant_id = %(tenant)s and g.id = up.id
      and not exists (select from assets s where s.tenant_id = %(tenant)s and s.id = up.id)
  ) n
  where n.parent is not null
),
reached as materialized (
  select r.asset_id, r.propagated, r.inherited
  from reached_from_elsewhere(
    %(tenant)s, %(tags)s::text[], %(cut)s,
    (select array_agg(id order by number) from found), (select array_agg(parent order by number) from found)
  ) r
)
select f.number, f.id::text, f.stored or f.in_graph or f.parent is not null, f.qualified_name, f.entity_type, f.data_source,
       f.source_tags, f.enriched_tags, f.user_tags, f.suppressed, f.source, f.enriched, f."user", f.parent::text,
       r.propagated, array(select jsonb_object_keys(r.inherited)), f.stored
from found f left join reached r on r.asset_id = f.id
union all
select null, up.id::text, true, coalesce(a.qualified_name, g.qualified_name), null, null, null, null, null, null, null, null,
       null, coalesce(a.parent, g.parent::text), null, null, a.id is not null
from up
left join assets a on a.tenant_id = %(tenant)s and a.id = up.id
left join graph_nodes g on g.tenant_id = %(tenant)s and g.id = up.id and a.id is null
