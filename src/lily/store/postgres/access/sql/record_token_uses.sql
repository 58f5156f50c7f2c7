select record_token_uses(%(used)s::uuid[])
