-- Defines a rule unless there is one of that name or for that attribute. record_decision.sql records what `decided`
-- returns.
with decided as (
  insert into propagation_rules as t (tenant_id, key, name, attribute, mode, direction, max_depth, edge_types)
  values (%(tenant)s, %(key)s, %(name)s, %(attribute)s, %(mode)s, %(direction)s, %(max_depth)s, %(edge_types)s)
  on conflict do nothing
  returning t.key as name, null::jsonb as before, {shown} as after
)
