select key, body from users where tenant_id = %(tenant)s and key = any (%(keys)s::text[])
