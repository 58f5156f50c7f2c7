-- A user who is kept out, and the ticket of one who signed in with an identity provider.
insert into disabled_users (tenant_id, user_name) select id, 'mallory' from tenants;
insert into tickets (hash, tenant_id, expires_at, user_name, scopes, groups, issuer, valid_until)
select sha256(('sign_in_' || id)::bytea), id, '2100-01-01', 'carol', '{metadata:read}', '{stewards}', 'https://id.test', '2100-01-01'
from tenants;
