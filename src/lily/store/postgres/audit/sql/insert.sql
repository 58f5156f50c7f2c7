insert into audit (tenant_id, principal, action, entity, detail)
values (%(tenant)s, %(principal)s, %(action)s, %(entity)s, %(detail)s)
