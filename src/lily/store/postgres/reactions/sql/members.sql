-- The number of workers that run a reaction: each holds a shared lock while it is connected.
select count(*) from pg_locks
where locktype = 'advisory' and mode = 'ShareLock' and granted
  and database = (select oid from pg_database where datname = current_database())
  and classid = %(class)s and objid::bigint = (%(key)s::bigint + 4294967296) %% 4294967296 and objsubid = 2
