-- A table without an error is in line with the digest of its decisions; one with an error keeps the digest of what it was
-- last in line with.
with given as materialized (
  select array(select jsonb_array_elements_text(g.path)) as path, g.digest, g.error
  from unnest(%(paths)s::jsonb[], %(digests)s::bytea[], %(errors)s::text[]) as g (path, digest, error)
),
gone as (
  delete from enforcement_tables t
  where t.tenant_id = %(tenant)s and t.target = %(key)s and not exists (select from given g where g.path = t.path)
)
insert into enforcement_tables as t (tenant_id, target, path, digest, confirmed_at, error)
select %(tenant)s, %(key)s, g.path, case when g.error is null then g.digest end,
       case when g.error is null then clock_timestamp() end, g.error
from given g
on conflict (tenant_id, target, path) do update
set digest = coalesce(excluded.digest, t.digest), error = excluded.error,
    confirmed_at = coalesce(excluded.confirmed_at, t.confirmed_at),
    announced = case when excluded.error is not null then t.announced end
where t.error is distinct from excluded.error or t.digest is distinct from excluded.digest
   or t.announced is not null or t.drift_at > coalesce(t.confirmed_at, '-infinity')
