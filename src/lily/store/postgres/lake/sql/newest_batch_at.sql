-- The newest batch of the lake that could be read at a time; 0 if there was none.
select coalesce(max(number), 0) from lake_batches where committed_at <= %(time)s::timestamptz
