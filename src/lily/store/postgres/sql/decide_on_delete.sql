-- Decides what deletion means for tags, with its outbox row and its trace.
with decided as (
  select 'on_delete' as name, to_jsonb(d.before) as before, to_jsonb(d.after) as after
  from decide_on_delete(%(value)s) d
),
batch as (
  insert into batches (published_at) select null from decided where before is distinct from after returning id
),
outbox as (
  insert into decisions (batch_id, tenant_id, kind, name, before, after, by)
  select batch.id, %(tenant)s, 'setting', decided.name, decided.before, decided.after, %(by)s from batch, decided
),
audited as (
  insert into audit (tenant_id, principal, action, entity, detail)
  select %(tenant)s, %(by)s, 'setting.changed', decided.name,
         jsonb_build_object('before', decided.before, 'after', decided.after, 'correlation', %(correlation)s::text)
  from batch, decided
)
select decided.name, pg_notify('lily_tags', %(tenant)s), pg_notify('lily_applied', '') from decided
