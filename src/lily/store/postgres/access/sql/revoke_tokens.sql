select revoke_tokens(%(tenant)s, %(user)s, %(until)s::timestamptz, %(by)s)
