on conflict (tenant_id, key) do update
  set body = excluded.body, names = excluded.names, version = excluded.version, updated_at = now()
