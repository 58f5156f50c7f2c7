-- Idempotent: a tenant that exists stays as it is.
with created as (
  insert into tenants (id) values (%(tenant)s) on conflict do nothing returning id
)
insert into audit (tenant_id, principal, action, entity)
select id, %(by)s, 'tenant.created', id from created
