-- A token that was rotated and used, and a tenant with limits of its own.
insert into tokens (tenant_id, hash, scopes, user_name, replaces, last_used_at)
select t.tenant_id, sha256(t.hash || 'rotated'), t.scopes, t.user_name, t.id, now() from tokens t where t.scraper_group = 'crm';
insert into tenant_quotas (tenant_id, requests_per_second, connections) select id, 100, 5 from tenants where id in ('north', 'south');
