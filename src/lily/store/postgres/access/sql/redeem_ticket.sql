select coalesce(token_id::text, ''), tenant_id, user_name, scopes, expires_at, groups, issuer, coalesce(scraper_group, '')
from redeem_ticket(%(hash)s)
