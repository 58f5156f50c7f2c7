-- A token is looked up before its tenant is known, so this function runs with the owner's rights. It takes a hash only.
create or replace function authenticate(token_hash bytea)
returns table (token_id uuid, tenant_id text, scopes text[], user_name text, expires_at timestamptz, scraper_group text)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select t.id, t.tenant_id, t.scopes, t.user_name, t.expires_at, t.scraper_group
  from tokens t
  where t.hash = token_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
$$;

-- Redeeming a ticket deletes it, and all expired tickets with it.
create or replace function redeem_ticket(ticket_hash bytea)
returns table (token_id uuid, tenant_id text, scopes text[], user_name text, expires_at timestamptz, scraper_group text)
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  with used as (delete from tickets where hash = ticket_hash or expires_at < now() returning *)
  select t.id, t.tenant_id, t.scopes, t.user_name, t.expires_at, t.scraper_group
  from used join tokens t on t.id = used.token_id and t.tenant_id = used.tenant_id
  where used.hash = ticket_hash and used.expires_at > now() and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
$$;

revoke all on function authenticate(bytea), redeem_ticket(bytea) from public;
grant execute on function authenticate(bytea), redeem_ticket(bytea) to lily_api;
