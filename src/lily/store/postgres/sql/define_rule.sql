-- Makes a rule, where there is none of that name and none for that attribute, with its outbox row and its trace.
with decided as (
  insert into propagation_rules as r (tenant_id, key, name, attribute, mode, direction, max_depth, edge_types)
  values (%(tenant)s, %(key)s, %(name)s, %(attribute)s, %(mode)s, %(direction)s, %(max_depth)s, %(edge_types)s)
  on conflict do nothing
  returning r.key as name, null::jsonb as before,
            jsonb_build_object('name', r.name, 'attribute', r.attribute, 'mode', r.mode, 'direction', r.direction,
                               'max_depth', r.max_depth, 'edge_types', r.edge_types) as after
),
batch as (
  insert into batches (published_at) select null from decided where before is distinct from after returning id
),
outbox as (
  insert into decisions (batch_id, tenant_id, kind, name, before, after, by)
  select batch.id, %(tenant)s, 'rule', decided.name, decided.before, decided.after, %(by)s from batch, decided
),
audited as (
  insert into audit (tenant_id, principal, action, entity, detail)
  select %(tenant)s, %(by)s, 'rule.defined', decided.name,
         jsonb_build_object('before', decided.before, 'after', decided.after, 'correlation', %(correlation)s::text)
  from batch, decided
)
select decided.name, pg_notify('lily_applied', '') from decided
