-- What has changed of an asset since a time: by layer what it was before its first change, whether a change came from the lake,
-- the smallest time of an event, the version before all of them, and the newest event of the changes before. Whether some of
-- these changes have left PostgreSQL.
with later as (
  select c.layer, c.position, c.version, c.before, c.causes
  from changes c
  where c.tenant_id = %(tenant)s and c.asset_id = %(id)s::uuid and c.committed_at > %(time)s::timestamptz
),
firsts as (
  select distinct on (l.layer) l.layer, l.before from later l order by l.layer, l.position
)
select exists (
         select from archived_changes h
         where h.asset_id = %(id)s::uuid and h.tenant_id = %(tenant)s and h.last_at > %(time)s::timestamptz),
       coalesce((select jsonb_object_agg(f.layer, f.before) from firsts f), '{}'),
       coalesce((select bool_or(l.causes @> '[{"from": "lake"}]') from later l), false),
       (select min(cause ->> 'time') from later l cross join lateral jsonb_array_elements(l.causes) cause),
       (select min(l.version) - 1 from later l),
       (select max(cause ->> 'time')
        from (
          select c.causes from changes c
          where c.tenant_id = %(tenant)s and c.asset_id = %(id)s::uuid and c.committed_at <= %(time)s::timestamptz
          order by c.position desc limit 20
        ) newest cross join lateral jsonb_array_elements(newest.causes) cause)
