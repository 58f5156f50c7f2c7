-- Follows every change of an object: if it changed something, increments the tenant's version, records the state in the
-- history, queues the change for publication, audits it and notifies the processes that decide.
, bumped as (
  update access_versions v
  set version = v.version + 1,
      compiled = case when %(compiled)s then v.version + 1 else v.compiled end,
      changed_at = greatest(clock_timestamp(), v.changed_at + interval '1 microsecond')
  from decided
  where v.tenant_id = %(tenant)s and decided.before is distinct from decided.after
  returning v.version, v.changed_at
),
closed as (
  update access_history h set valid_to = bumped.changed_at
  from bumped
  where h.tenant_id = %(tenant)s and h.kind = %(kind)s and h.key = %(key)s and h.valid_to is null
),
opened as (
  insert into access_history (tenant_id, kind, key, version, valid_from, body)
  select %(tenant)s, %(kind)s, %(key)s, bumped.version, bumped.changed_at, decided.after
  from bumped, decided
  where decided.after is not null
),
batch as (
  insert into batches (published_at) select null from bumped returning id
),
{recorded}
select locked.version, decided.name is not null, decided.before, decided.after,
       (select pg_notify('lily_policies', %(tenant)s) from bumped), (select pg_notify('lily_applied', '') from bumped)
from locked left join decided on true
