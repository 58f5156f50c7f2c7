-- The nodes of a lineage graph, with the tags of the layers for assets that have any. Columns that only the lake has come from
-- graph_nodes, unless the lake has newer events about them. After them, as rows without a name, the derived tags of those that
-- have any, and the incidents that put them at risk.
--
-- The planner sees an array of unknown length, so it uses the primary keys, and one scan finds all of the ids. It would take
-- longer to plan with the ids than to read the rows. A join with the derived tags would rest on the same guess.
with given as materialized (select %(ids)s::uuid[] as ids),
held as materialized (
  select id, qualified_name, name, entity_type, is_deleted, awaits_lake,
         case when stated <> '{}' then jsonb_build_array(
           source -> 'tags', enriched_or_held(assets.held, source, enriched, "user"), "user" -> 'tags') end as tags,
         parent::uuid as parent, nullif(suppressed, '{}') as suppressed
  from assets
  where tenant_id = %(tenant)s and id = any ((select ids from given)::uuid[])
),
nodes as materialized (
  select id, qualified_name, name, entity_type, is_deleted, awaits_lake, tags, parent, suppressed from held
  union all
  select g.id, g.qualified_name, g.name, g.entity_type, g.is_deleted, false, null, g.parent, null
  from graph_nodes g
  where g.tenant_id = %(tenant)s and g.id = any ((select ids from given)::uuid[])
    and g.qualified_name is not null and not g.awaits_lake
    and g.id not in (select id from held)  -- hashed, however many there are
),
listed as materialized (select array_agg(id) as ids, array_agg(parent) as parents from nodes)
select id::text, qualified_name, name, entity_type, is_deleted, awaits_lake, tags, suppressed,
       null::text[] as propagated, null::jsonb as inherited, null::jsonb as incidents
from nodes
union all
select d.asset_id::text, null, null, null, false, false, null, null, d.propagated, d.inherited, d.incidents
from listed
cross join lateral reached_from_elsewhere(
  %(tenant)s, %(tags)s::text[], %(cut)s, listed.ids, listed.parents, p_risks => true
) d
where listed.ids is not null
