-- A token that is bound to a scraper group.
insert into tokens (tenant_id, hash, scopes, user_name, scraper_group)
select id, sha256(('scraper of ' || id)::bytea), '{metadata:write}', 'scraper', 'crm' from tenants;
