with decided as (
  update mentions m set handles = %(handles)s
  where m.tenant_id = %(tenant)s and m.key = %(key)s
  returning m.key as name, jsonb_build_object('name', m.name, 'handles', old.handles) as before,
            jsonb_build_object('name', m.name, 'handles', new.handles) as after
)
