with decided as (
  insert into mentions as m (tenant_id, key, name, handles)
  values (%(tenant)s, %(key)s, %(name)s, %(handles)s)
  on conflict do nothing
  returning m.key as name, null::jsonb as before, jsonb_build_object('name', m.name, 'handles', m.handles) as after
)
