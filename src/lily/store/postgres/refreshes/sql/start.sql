-- Reports that a scraper works on a run; with its lease, that it still does. Without one nobody else may hold it.
update refresh_runs r
set state = 'running', started_at = coalesce(r.started_at, m.now), scraper = %(by)s, lease = %(lease)s::uuid,
    lease_until = case when %(lease)s::uuid is not null then m.now + make_interval(secs => %(seconds)s) end
from (select coalesce(%(now)s::timestamptz, clock_timestamp()) as now) m
where r.tenant_id = %(tenant)s and r.run_id = %(run)s::uuid and r.finished_at is null and r.deadline > m.now
  and case when %(lease)s::uuid is null then coalesce(r.lease_until <= m.now, true) else r.lease = %(lease)s::uuid end
returning r.run_id::text
