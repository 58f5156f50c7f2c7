-- Replaces the quotas of a tenant. access_changed.sql audits what `changed` returns.
with changed as (
  insert into tenant_quotas (tenant_id, requests_per_second, decisions_per_second, events_per_second, bytes_per_second, connections)
  values (%(tenant)s, %(requests_per_second)s, %(decisions_per_second)s, %(events_per_second)s, %(bytes_per_second)s, %(connections)s)
  on conflict (tenant_id) do update set
    requests_per_second = excluded.requests_per_second, decisions_per_second = excluded.decisions_per_second,
    events_per_second = excluded.events_per_second, bytes_per_second = excluded.bytes_per_second,
    connections = excluded.connections
  returning tenant_id, tenant_id as entity, jsonb_strip_nulls(to_jsonb(tenant_quotas) - 'tenant_id') as detail
)
