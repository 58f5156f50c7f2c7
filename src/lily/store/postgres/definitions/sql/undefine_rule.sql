-- Takes a rule away. What `decided` names is told by decided.sql.
with decided as (
  delete from propagation_rules as r
  where r.tenant_id = %(tenant)s and r.key = %(key)s
  returning r.key as name,
            jsonb_build_object('name', r.name, 'attribute', r.attribute, 'mode', r.mode, 'direction', r.direction,
                               'max_depth', r.max_depth, 'edge_types', r.edge_types) as before, null::jsonb as after
)
