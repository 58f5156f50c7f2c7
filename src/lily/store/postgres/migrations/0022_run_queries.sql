-- The newest analyzed query of each job: the tables that it reads, and the columns of those that it makes, in order. When
-- these change, the queries that read the table are analyzed again: `select *` has other columns then.
create table run_queries (
  tenant_id text not null,
  job_id    uuid not null,
  at        text collate "C" not null,  -- the clock of the event
  event     jsonb not null,
  reads     text[] not null,  -- qualified names
  made      jsonb not null,   -- names of columns by qualified name of the table
  primary key (job_id, tenant_id)
);
create index run_queries_by_read on run_queries using gin (reads);
create index run_queries_by_made on run_queries using gin (made);

select separate_tenants('run_queries');
grant select, insert, update, delete on run_queries to lily_pipeline;
