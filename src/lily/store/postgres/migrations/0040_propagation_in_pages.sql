-- A run of propagation that is large is done in pages, each in a transaction of its own: what is still to do is here, so a
-- process that dies leaves nothing half done (functions/60_propagate.sql).
create table propagation_runs (
  tenant_id text primary key references tenants,
  began     timestamptz not null,           -- the time at which all pages change what they change
  about     text,                           -- the changes of the caller, as a digest: another one brings others
  marked    boolean not null default false  -- they have been taken in
);
create table propagation_pages (
  tenant_id text not null,
  number    bigint generated always as identity,
  step      text not null check (step in ('mark', 'suspect', 'seed', 'origin', 'frontier', 'loss')),
  tags      text[] collate "C",
  ids       uuid[] not null,
  kinds     text[] collate "C",
  roots     uuid[] not null,
  depths    integer[],
  steps     integer[],
  content   boolean[],
  primary key (tenant_id, number)
);
-- Ids do not compress, and a page is read once.
alter table propagation_pages alter column ids set storage external, alter column roots set storage external;
select separate_tenants('propagation_runs'), separate_tenants('propagation_pages');
grant select, insert, update, delete on propagation_runs, propagation_pages to lily_pipeline;

-- Of the events of a tenant, how many a run is about that is not finished: it goes on in turns with other tenants.
alter table parked_tenants add column unfinished integer;
