insert into rule_statements (batch_id, tenant_id, asset_id, body)
select %(batch)s, %(tenant)s, asset_id, body from new_statements
