with noted as (
  update enforcement_tables t set drift_at = clock_timestamp(), drift = g.drift
  from (
    select array(select jsonb_array_elements_text(d.path)) as path, d.drift
    from unnest(%(paths)s::jsonb[], %(drifts)s::jsonb[]) as d (path, drift)
  ) g
  where t.tenant_id = %(tenant)s and t.target = %(key)s and t.path = g.path
),
batch as (
  insert into batches (published_at) values (null) returning id
)
insert into decisions (batch_id, tenant_id, kind, name, before, after, by)
select batch.id, %(tenant)s, %(kind)s, %(key)s, null, %(report)s, 'lily'
from batch
