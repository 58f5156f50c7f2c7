"""Access: policies, roles, users, scraper policies and engine mappings, as administrators state them."""
