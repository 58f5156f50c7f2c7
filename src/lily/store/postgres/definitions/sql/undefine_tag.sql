-- Takes a tag's definition away. What `decided` names is told by decided.sql.
with decided as (
  delete from tags as t
  where t.tenant_id = %(tenant)s and t.key = %(key)s
  returning t.key as name,
            jsonb_build_object('name', t.name, 'propagates', t.propagates, 'direction', t.direction, 'max_depth', t.max_depth,
                                 'edge_types', t.edge_types, 'stopped_by_masking', t.stopped_by_masking) as before, null::jsonb as after
)
