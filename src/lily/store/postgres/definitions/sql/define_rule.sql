-- Makes a rule, where there is none of that name and none for that attribute. What `decided` names is told by decided.sql.
with decided as (
  insert into propagation_rules as r (tenant_id, key, name, attribute, mode, direction, max_depth, edge_types)
  values (%(tenant)s, %(key)s, %(name)s, %(attribute)s, %(mode)s, %(direction)s, %(max_depth)s, %(edge_types)s)
  on conflict do nothing
  returning r.key as name, null::jsonb as before,
            jsonb_build_object('name', r.name, 'attribute', r.attribute, 'mode', r.mode, 'direction', r.direction,
                               'max_depth', r.max_depth, 'edge_types', r.edge_types) as after
)
