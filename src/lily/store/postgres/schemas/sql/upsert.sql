-- Replaces older schemas by these, which differ from what is stored. Returns the columns that the newer one of
-- the two lacks, with its clock, without those that another producer's newest schema of the dataset has.
with given as materialized (
  select g.*, s.at as known_at, s.columns as known
  from rows from (
    unnest(%(tenants)s::text[], %(datasets)s::uuid[], %(scopes)s::text[], %(ats)s::text[], %(digests)s::text[]),
    jsonb_array_elements(%(columns)s::jsonb))
    as g (tenant_id, dataset_id, scope, at, digest, columns)
  left join lateral (
    select at, columns from dataset_schemas s
    where s.dataset_id = g.dataset_id and s.scope = g.scope and s.tenant_id = g.tenant_id offset 0
  ) s on true
),
replaced as (
  insert into dataset_schemas as s (tenant_id, dataset_id, scope, at, digest, columns)
  select tenant_id, dataset_id, scope, at, digest, columns from given
  where known_at is null or known_at < at
  order by tenant_id, dataset_id, scope
  on conflict (dataset_id, scope, tenant_id) do update
  set at = excluded.at, digest = excluded.digest, columns = excluded.columns
  where s.at < excluded.at
  returning new.tenant_id, new.dataset_id, new.scope, new.at, old.columns as before, new.columns as after
),
compared as (
  select * from replaced where before is not null
  union all
  select tenant_id, dataset_id, scope, known_at, columns, known from given where known_at > at
)
select c.tenant_id, c.dataset_id::text, c.scope, gone.qualified_name, gone.name, c.at
from compared c
cross join lateral jsonb_each_text(c.before) as gone (qualified_name, name)
where not c.after ? gone.qualified_name
  and not exists (
    select from dataset_schemas o
    where o.dataset_id = c.dataset_id and o.tenant_id = c.tenant_id and o.scope <> c.scope and o.columns ? gone.qualified_name)
