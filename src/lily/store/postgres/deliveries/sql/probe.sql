-- The delivery that probes a destination once its first one has failed again and again: of the next jobs that are due, the one
-- with the fewest attempts. Of an incident only the first is chosen, so that its messages stay in order.
with due as (
  select run_at, id, arguments
  from queued_jobs
  where tenant_id = %(tenant)s and job_group = %(group)s and run_at <= clock_timestamp()
  order by run_at, id
  limit %(jobs)s
), waiting as (
  select d.delivery_id, d.attempts, due.run_at, due.id, listed.place,
         row_number() over (partition by coalesce(d.incident_id, d.delivery_id) order by due.run_at, due.id, listed.place) as turn
  from due
  cross join lateral jsonb_array_elements_text(due.arguments -> 'deliveries') with ordinality as listed (id, place)
  cross join lateral (
    select delivery_id, attempts, incident_id from deliveries
    where tenant_id = %(tenant)s and delivery_id = listed.id::uuid and state in ('waiting', 'held')
  ) as d
)
select delivery_id::text from waiting where turn = 1 order by attempts, run_at, id, place limit 1
