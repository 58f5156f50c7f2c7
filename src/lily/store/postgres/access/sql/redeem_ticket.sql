select coalesce(token_id::text, ''), tenant_id, user_name, scopes, expires_at, groups, issuer
from redeem_ticket(%(hash)s)
