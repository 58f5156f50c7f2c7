-- Chained at once, because the next migration may change the table in this transaction.
insert into audit (tenant_id, principal, action, entity, detail)
select id, 'ada', 'policy.created', 'readers', '{"after": {"effect": "allow"}}' from tenants where id in ('north', 'south');
set constraints all immediate;
set constraints all deferred;
