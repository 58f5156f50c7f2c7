-- Deletes the receipts of what changes reached.
with gone as (
  delete from propagations p
  where p.ctid = any (array(
    select o.ctid from propagations o where o.finished_at < now() - %(keep)s::interval order by o.finished_at limit %(most)s))
    and p.finished_at < now() - %(keep)s::interval
  returning 1
)
select (select count(*) from gone), case when (select count(*) from gone) = %(most)s then 0 end, 0
