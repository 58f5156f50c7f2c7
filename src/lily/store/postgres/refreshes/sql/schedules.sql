-- Schedules by data source, each with its unfinished run and how the last finished one ended; with `data_source` that one.
select s.data_source, extract(epoch from s.every)::bigint, extract(epoch from s.timeout)::bigint, s.enabled,
       s.is_configured, s.first_seen, case when s.enabled then s.next_at end, u.run_id::text, l.run_id::text, l.state,
       l.finished_at
from refresh_schedules s
left join refresh_runs u on u.tenant_id = %(tenant)s and u.data_source = s.data_source and u.finished_at is null
left join lateral (
  select r.run_id, r.state, r.finished_at
  from refresh_runs r
  where r.tenant_id = %(tenant)s and r.data_source = s.data_source and r.finished_at is not null
  order by r.requested_at desc, r.run_id
  limit 1
) l on true
where s.tenant_id = %(tenant)s
  and (%(data_source)s::text is null or s.data_source = %(data_source)s)
  and s.data_source > %(beyond)s collate "C"
order by s.data_source
limit %(limit)s
