select exists (select from tenant_settings()), is_disabled(%(tenant)s, %(user)s)
