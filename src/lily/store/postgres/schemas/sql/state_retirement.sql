insert into rule_statements (batch_id, tenant_id, asset_id, body, stated_at)
values (%(batch)s, %(tenant)s, %(asset)s, %(body)s, %(at)s)
