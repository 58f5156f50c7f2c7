-- The review of what ended without authority (docs/decisions/0051).

-- The newest confirmation, per job and edge, that the job no longer claims the edge: what it claimed before is not held, in
-- whatever order the events arrive.
create table released_claims (
  tenant_id text not null,
  job_id    uuid not null,
  from_id   uuid not null,
  to_id     uuid not null,
  type      text collate "C" not null,
  at        text collate "C" not null,  -- the clock of the confirmation
  primary key (job_id, from_id, to_id, type, tenant_id)
);
create index released_claims_of_tenant on released_claims (tenant_id);
select separate_tenants('released_claims');
grant select, insert, update, delete on released_claims to lily_pipeline;

-- Deleted assets that still pass tags on: where deletion cuts, each is to be confirmed.
create index assets_deleted_and_conducting on assets (tenant_id, id) where is_deleted and not is_cut;
