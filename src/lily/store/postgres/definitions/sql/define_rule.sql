-- Defines a rule, if there is none of that name and none for that attribute. What `decided` names is recorded by
-- decided.sql.
with decided as (
  insert into propagation_rules as t (tenant_id, key, name, attribute, mode, direction, max_depth, edge_types)
  values (%(tenant)s, %(key)s, %(name)s, %(attribute)s, %(mode)s, %(direction)s, %(max_depth)s, %(edge_types)s)
  on conflict do nothing
  returning t.key as name, null::jsonb as before, {shown} as after
)
