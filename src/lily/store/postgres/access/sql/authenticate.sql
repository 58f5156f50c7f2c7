select token_id::text, tenant_id, user_name, scopes, expires_at, '{}'::text[], ''
from authenticate(%(hash)s)
