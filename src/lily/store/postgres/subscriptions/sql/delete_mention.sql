with decided as (
  delete from mentions m where m.tenant_id = %(tenant)s and m.key = %(key)s
  returning m.key as name, jsonb_build_object('name', m.name, 'handles', m.handles) as before, null::jsonb as after
)
