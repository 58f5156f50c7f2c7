-- Changes the named fields of a rule. What `decided` names is told by decided.sql.
with decided as (
  update propagation_rules as r set
    mode = coalesce(%(changes)s ->> 'mode', r.mode),
    direction = coalesce(%(changes)s ->> 'direction', r.direction),
    max_depth = case when %(changes)s ? 'max_depth' then (%(changes)s ->> 'max_depth')::integer else r.max_depth end,
    edge_types = case
      when not %(changes)s ? 'edge_types' then r.edge_types
      when %(changes)s -> 'edge_types' = 'null' then null
      else array(select jsonb_array_elements_text(%(changes)s -> 'edge_types'))
    end,
    updated_at = now()
  where r.tenant_id = %(tenant)s and r.key = %(key)s
  returning r.key as name,
            jsonb_build_object('name', old.name, 'attribute', old.attribute, 'mode', old.mode, 'direction', old.direction,
                               'max_depth', old.max_depth, 'edge_types', old.edge_types) as before,
            jsonb_build_object('name', new.name, 'attribute', new.attribute, 'mode', new.mode, 'direction', new.direction,
                               'max_depth', new.max_depth, 'edge_types', new.edge_types) as after
)
