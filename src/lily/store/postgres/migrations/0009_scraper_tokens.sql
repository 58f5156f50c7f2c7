-- A token may be bound to a scraper group: it reads and writes only what the scraper policies of the group cover.
-- The group is a name, not a reference: like a role, it may be named before it has policies, and then covers nothing.
alter table tokens add column scraper_group text check (scraper_group <> '');

-- Their results get a column, which `create or replace` cannot add. `functions/20_access.sql` creates them again.
drop function authenticate(bytea);
drop function if exists redeem_ticket(bytea);  -- 0007 has dropped it where both are applied at once
