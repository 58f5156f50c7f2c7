-- Deletes what was noted longer ago than the time to keep, and notes up to which transaction: a process that has read nothing
-- since then reads everything again.
with last as (
  select max(xid) as xid from fact_changes where tenant_id <> '' and at < now() - %s::interval
),
deleted as (
  delete from fact_changes f using last where f.xid <= last.xid returning 1
),
noted as (
  insert into fact_changes (tenant_id, xid) select '', xid from last where xid is not null
)
select count(*) from deleted
