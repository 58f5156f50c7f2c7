with marked as (
  update batches set published_at = clock_timestamp(), ends = %(ends)s where id = any(%(batches)s)
)
select pg_notify('lily_published', '')
