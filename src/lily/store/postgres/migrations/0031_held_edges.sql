-- What ends without authority still conducts protective tags (docs/decisions/0049).

-- Claims that ended without authority, per job and edge: the newest unmasked one, and the newest masked one. They are held
-- until a newer run of the job completes with authority.
create table held_claims (
  tenant_id text not null,
  job_id    uuid not null,
  from_id   uuid not null,
  to_id     uuid not null,
  type      text collate "C" not null,
  masking   boolean not null,
  at        text collate "C" not null,  -- the clock from which the claim counted
  ended_by  text not null,              -- whose event ended it, and when that happened
  ended_at  timestamptz not null,
  primary key (job_id, from_id, to_id, type, masking, tenant_id)
);
create index held_claims_of_edge on held_claims (from_id, to_id, type);
create index held_claims_of_tenant on held_claims (tenant_id, ended_at);
select separate_tenants('held_claims');
grant select on held_claims to lily_api;
grant select, insert, update, delete on held_claims to lily_pipeline;

alter table jobs add column authorised_at text collate "C";  -- the newest completion with authority
-- Whether a masked claim has authority. What was accepted before counts as if it had.
alter table claims add column authorised boolean not null default false;
update claims set authorised = true where masking;

-- What protective tags pass an edge: 0 none, 1 those that masking does not stop, 2 all. The rules are those of
-- lily.lineage.edge_state. A layer has `$conducts:` fields where it conducts something else than it shows. In PL/pgSQL: a
-- function in SQL that the planner cannot inline costs fifty times as much.
create function edge_conduction(
  source jsonb, "user" jsonb, claimed boolean, claims_mask boolean, claims_mask_by_authority boolean, claims_held smallint
) returns smallint
language plpgsql immutable parallel safe as $$
declare
  user_deleted     boolean := nullif(coalesce("user" ->> '$conducts:$deleted', "user" ->> '$deleted'), '')::boolean;
  user_propagates  boolean := nullif(coalesce("user" ->> '$conducts:propagates', "user" ->> 'propagates'), '')::boolean;
  user_masks       text    := coalesce("user" ->> '$conducts:masking', "user" ->> 'masking');  -- or `never` open
  source_propagates boolean := nullif(coalesce(source ->> '$conducts:propagates', source ->> 'propagates'), '')::boolean;
  source_masks     text    := coalesce(source ->> '$conducts:masking', source ->> 'masking');
  by_source        boolean := coalesce(source ->> '$conducts:$deleted', source ->> '$deleted', '') = 'false';
  any_claim        boolean := claimed or claims_held > 0;
begin
  if not coalesce(not user_deleted, by_source or any_claim) or not coalesce(user_propagates, source_propagates, true) then
    return 0;
  elsif user_masks in ('true', 'false') then
    return case user_masks when 'true' then 1 else 2 end;
  elsif by_source and coalesce(source_masks, '') not in ('true', 'never')
        or claims_held = 2 or claimed and not claims_mask
        -- A person's edge is unmasked unless everything else masks it, by authority.
        or not user_deleted and coalesce(user_masks, '') <> 'never'
           and not ((coalesce(source_masks, '') = 'true' or any_claim and not by_source)
                    and (not any_claim or claims_mask_by_authority and claims_held = 0)) then
    return 2;
  end if;
  return 1;
end
$$;

alter table edges
  add column claims_mask_by_authority boolean not null default false,  -- every claim masks the edge, with authority
  add column claims_held smallint not null default 0;                  -- what held claims conduct, as `conduction`
update edges set claims_mask_by_authority = true where claims_mask;
alter table edges add column conduction smallint not null generated always as (
  case when source is not null or "user" is not null
       then edge_conduction(source, "user", claimed, claims_mask, claims_mask_by_authority, claims_held)
       when claims_held = 2 or claimed and not claims_mask then 2
       when claims_held = 1 or claimed then 1
       else 0 end) stored;
-- Edges that conduct more than they show.
create index edges_held on edges (tenant_id, updated_at)
where conduction > 0 and (is_deleted or not propagates) or conduction = 2 and masking;

-- Their parameters have changed: functions/50_edge_passage.sql.
drop function if exists passes(boolean, boolean, boolean, text, tags);
