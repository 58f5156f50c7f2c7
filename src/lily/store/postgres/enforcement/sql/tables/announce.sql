-- Versions are times, so they grow also where a target is removed and added again.
with given as materialized (
  select array(select jsonb_array_elements_text(g.path)) as path, g.digest
  from unnest(%(paths)s::jsonb[], %(digests)s::bytea[]) as g (path, digest)
)
insert into enforcement_tables as t (tenant_id, target, path, announced, version)
select %(tenant)s, %(key)s, g.path, g.digest, (extract(epoch from clock_timestamp()) * 1000000)::bigint
from given g
on conflict (tenant_id, target, path) do update
set announced = excluded.announced, version = greatest(t.version + 1, excluded.version)
where t.announced is distinct from excluded.announced
returning 1
