-- Whether the lake has everything that was in the log at a time.
select coalesce((select fresh_as_of >= %(at)s::timestamptz from lake_progress), false)
