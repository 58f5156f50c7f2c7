-- Two equal values mean that no transaction has committed a change in between, on the same server.
select pg_current_snapshot()::text || ' ' || pg_postmaster_start_time()::text
