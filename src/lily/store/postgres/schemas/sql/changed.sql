-- Which of these schemas differ from what is stored, by their number.
select g.n - 1
from unnest(%(tenants)s::text[], %(datasets)s::uuid[], %(scopes)s::text[], %(digests)s::text[])
  with ordinality as g (tenant_id, dataset_id, scope, digest, n)
left join lateral (
  select digest from dataset_schemas s
  where s.dataset_id = g.dataset_id and s.scope = g.scope and s.tenant_id = g.tenant_id offset 0
) s on true
where s.digest is distinct from g.digest
