-- Targets by key: one, or the page after a key. Never their configuration.
select t.key, jsonb_build_object(
         'name', t.name, 'type', t.type, 'data_source', t.data_source, 'roles', t.roles,
         'state', case when t.is_removed then 'removing' when t.is_stopped then 'stopped' when t.failures > 0 then 'failing'
                       when t.confirmed_at is not null then 'in line'
                       when t.plan ? 'written' and exists (
                         select from enforcement_tables e
                         where e.tenant_id = %(tenant)s and e.target = t.key and e.announced is not null)
                       then 'waiting' else 'new' end,
         'tables', t.tables, 'columns', t.columns, 'findings', t.findings,
         'created_at', utc_stamp(t.created_at), 'confirmed_at', utc_stamp(t.confirmed_at),
         'failed_at', utc_stamp(t.failed_at), 'error', t.error,
         'waiting_since', utc_stamp(waiting_run_since('enforcement/' || t.key)),
         'last_run', (
           select jsonb_build_object('began_at', utc_stamp(r.began_at), 'finished_at', utc_stamp(r.finished_at),
                                     'steps', r.steps, 'drifted', r.drifted, 'error', r.error)
           from enforcement_runs r
           where r.tenant_id = %(tenant)s and r.target = t.key order by r.began_at desc limit 1),
         'receipts', (
           select jsonb_build_object('confirmed', count(*) filter (where c.confirmed_at is not null and not c.is_withdrawn),
                                     'waiting', count(*) filter (where c.confirmed_at is null))
           from enforcement_receipts c
           where c.tenant_id = %(tenant)s and c.target = t.key),
         'drifted', (
           select coalesce(jsonb_agg(d.shown order by d.at desc), '[]')
           from (
             select jsonb_build_object('table', array_to_string(e.path, '.'), 'at', utc_stamp(e.drift_at), 'repaired_at',
                                       case when e.error is null and e.confirmed_at >= e.drift_at then utc_stamp(e.confirmed_at) end)
                    || e.drift as shown,
                    e.drift_at as at
             from enforcement_tables e
             where e.tenant_id = %(tenant)s and e.target = t.key and e.drift_at is not null
             order by e.drift_at desc limit 20
           ) d),
         'failed_tables', (
           select coalesce(jsonb_agg(f.shown), '[]')
           from (
             select jsonb_build_object('table', array_to_string(e.path, '.'), 'error', e.error) as shown
             from enforcement_tables e
             where e.tenant_id = %(tenant)s and e.target = t.key and e.error is not null
             order by e.path limit 100
           ) f),
         'plan', case when t.plan ? 'request' then t.plan - array['script', 'written'] end)
from enforcement_targets t
where t.tenant_id = %(tenant)s and t.key > %(beyond)s and (%(key)s::text is null or t.key = %(key)s)
order by t.key
limit %(limit)s
