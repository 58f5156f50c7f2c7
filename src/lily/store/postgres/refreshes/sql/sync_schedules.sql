-- A schedule for each data source that an asset names, and none for one that no asset names any more, unless a person
-- configured it. One index look-up per data source.
with recursive named as (
  (
    select tenant_id, data_source
    from assets
    where data_source is not null and not is_deleted
    order by tenant_id, data_source
    limit 1
  )
  union all
  select next.*
  from named
  cross join lateral (
    select tenant_id, data_source
    from assets
    where data_source is not null and not is_deleted
      and (assets.tenant_id, assets.data_source) > (named.tenant_id, named.data_source)
    order by tenant_id, data_source
    limit 1
  ) as next
),
appeared as (
  insert into refresh_schedules (tenant_id, data_source, first_seen, next_at)
  select n.tenant_id, n.data_source, c.now, c.now + interval '24 hours'
  from named n
  join tenants t on t.id = n.tenant_id
  cross join (select coalesce(%(now)s::timestamptz, clock_timestamp()) as now) c
  where not exists (
    select from refresh_schedules s where s.tenant_id = n.tenant_id and s.data_source = n.data_source collate "C"
  )
  on conflict do nothing
  returning data_source
),
gone as (
  delete from refresh_schedules s
  where not s.is_configured
    and not exists (
      select from named n where n.tenant_id = s.tenant_id and n.data_source collate "C" = s.data_source
    )
    and not exists (
      select from refresh_runs r
      where r.tenant_id = s.tenant_id and r.data_source = s.data_source and r.finished_at is null
    )
  returning data_source
)
select (select count(*) from appeared), (select count(*) from gone)
