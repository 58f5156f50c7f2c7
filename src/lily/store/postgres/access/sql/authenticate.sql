select token_id::text, tenant_id, user_name, scopes, expires_at, '{}'::text[], '', coalesce(scraper_group, '')
from authenticate(%(hash)s)
