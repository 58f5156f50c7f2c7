-- Changes the named fields of a tag's definition. What `decided` names is told by decided.sql.
with decided as (
  update tags as t set
    propagates = coalesce((%(changes)s ->> 'propagates')::boolean, t.propagates),
    direction = coalesce(%(changes)s ->> 'direction', t.direction),
    max_depth = case when %(changes)s ? 'max_depth' then (%(changes)s ->> 'max_depth')::integer else t.max_depth end,
    edge_types = case
      when not %(changes)s ? 'edge_types' then t.edge_types
      when %(changes)s -> 'edge_types' = 'null' then null
      else array(select jsonb_array_elements_text(%(changes)s -> 'edge_types'))
    end,
    stopped_by_masking = coalesce((%(changes)s ->> 'stopped_by_masking')::boolean, t.stopped_by_masking),
    updated_at = now()
  where t.tenant_id = %(tenant)s and t.key = %(key)s
  returning t.key as name,
            jsonb_build_object('name', old.name, 'propagates', old.propagates, 'direction', old.direction, 'max_depth', old.max_depth,
                                 'edge_types', old.edge_types, 'stopped_by_masking', old.stopped_by_masking) as before,
            jsonb_build_object('name', new.name, 'propagates', new.propagates, 'direction', new.direction, 'max_depth', new.max_depth,
                                 'edge_types', new.edge_types, 'stopped_by_masking', new.stopped_by_masking) as after
)
