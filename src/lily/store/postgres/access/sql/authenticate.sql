select token_id::text, tenant_id, user_name, scopes, expires_at
from authenticate(%(hash)s)
