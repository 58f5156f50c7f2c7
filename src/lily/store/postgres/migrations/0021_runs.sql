-- Edges that nothing but the inputs and outputs of a run suggests are marked, and give way to whatever is stated.
alter table claims add column assumed boolean not null default false;
alter table edges add column claims_assume boolean not null default false;  -- every claim of the edge is assumed
alter table edges add column assumed boolean generated always as (
  claimed and claims_assume and "user" is null and coalesce((source ->> '$deleted')::boolean, true)) stored;
