with changed as (
  insert into webhook_mappings (tenant_id, name, body)
  select %(tenant)s, %(name)s, %(body)s
  where (select count(*) from webhook_mappings where tenant_id = %(tenant)s) < %(most)s
  on conflict do nothing
  returning name
)
