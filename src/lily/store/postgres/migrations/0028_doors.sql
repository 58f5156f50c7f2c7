-- Tokens that are rotated and show their last use, and what each tenant may send.

alter table tokens
  add column replaces     uuid references tokens,  -- the token whose place it took: `lily token rotate`
  add column last_used_at timestamptz;             -- to about a minute
create unique index tokens_replaced_once on tokens (replaces);

-- What an administrator set for a tenant. Null: the setting of the process applies. 0: no limit.
create table tenant_quotas (
  tenant_id            text primary key references tenants,
  requests_per_second  integer check (requests_per_second >= 0),
  decisions_per_second integer check (decisions_per_second >= 0),
  events_per_second    integer check (events_per_second >= 0),
  bytes_per_second     bigint check (bytes_per_second >= 0),
  connections          integer check (connections >= 0)
);
select separate_tenants('tenant_quotas');
grant select on tenant_quotas to lily_api;
