-- The nodes of a lineage graph, with the tags of the layers for assets that have any, and the incidents that put them at
-- risk. Columns that only the lake has come from graph_nodes, unless the lake has newer events about them.
with given as materialized (select unnest(%(ids)s::uuid[]) as id),
held as materialized (
  select a.* from given cross join lateral (
    select id, qualified_name, name, entity_type, is_deleted, awaits_lake,
           case when stated <> '{}' then jsonb_build_array(source -> 'tags', enriched -> 'tags', "user" -> 'tags') end
             as tags,
           parent::uuid as parent, suppressed
    from assets where tenant_id = %(tenant)s and id = given.id
    offset 0
  ) a
),
nodes as materialized (
  select id, qualified_name, name, entity_type, is_deleted, awaits_lake, tags, parent, suppressed from held
  union all
  select g.id, g.qualified_name, g.name, g.entity_type, g.is_deleted, false, null, g.parent, '{}'
  from (select id from given except select id from held) rest
  cross join lateral (
    select * from graph_nodes g
    where g.id = rest.id and g.tenant_id = %(tenant)s and g.qualified_name is not null and not g.awaits_lake
    offset 0
  ) g
)
select id::text, qualified_name, name, entity_type, is_deleted, awaits_lake, tags, (
  select risks_of(%(tenant)s, (select array_agg(id) from nodes), (select array_agg(parent) from nodes))
) -> id::text, parent::text, suppressed
from nodes
