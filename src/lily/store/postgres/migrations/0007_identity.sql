-- Identity: users who sign in with an identity provider, and users who are kept out.

-- A ticket is of an API token, or of a user who signed in: then it keeps the principal itself, because there is no row
-- of a token that it could refer to. What an older version writes and reads is unchanged.
alter table tickets
  alter column token_id drop not null,
  add column user_name   text,
  add column scopes      text[],
  add column groups      text[],
  add column issuer      text,
  add column valid_until timestamptz,  -- when the access token expires
  add constraint of_a_token_or_a_user check (
    (token_id is not null and issuer is null)
    or (token_id is null and num_nulls(user_name, scopes, groups, issuer, valid_until) = 0)
  );

-- Its result has more columns from here on; functions/20_access.sql creates it.
drop function redeem_ticket(bytea);

-- Users who are kept out at once, whatever tokens they still have. The name is folded: see folded_user.
create table disabled_users (
  tenant_id text not null references tenants,
  user_name text not null,
  since     timestamptz not null default now(),
  primary key (tenant_id, user_name)
);

alter table disabled_users enable row level security, force row level security;
create policy one_tenant on disabled_users to lily_api using (tenant_id = tenant()) with check (tenant_id = tenant());
create policy administration on disabled_users to current_user using (true) with check (true);
grant select on disabled_users to lily_api;
