select token_id::text, tenant_id, user_name, scopes, expires_at
from redeem_ticket(%(hash)s)
