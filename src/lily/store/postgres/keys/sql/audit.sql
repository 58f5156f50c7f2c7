insert into audit (tenant_id, principal, action, entity, detail)
values (%(tenant)s, %(by)s, 'keys.rotated', %(table)s, jsonb_build_object('rows', %(rows)s::integer, 'key', %(key)s::text))
