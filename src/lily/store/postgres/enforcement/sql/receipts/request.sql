-- New receipts, those that are wanted again, and those that are no longer wanted, are requested at the given time.
with given as materialized (
  select g.id, g.tag, g.name, array(select jsonb_array_elements_text(g.path)) as path
  from unnest(%(ids)s::uuid[], %(tags)s::text[], %(names)s::text[], %(paths)s::jsonb[]) as g (id, tag, name, path)
),
withdrawn as (
  update enforcement_receipts r set is_withdrawn = true, requested_at = %(at)s, confirmed_at = null
  where r.tenant_id = %(tenant)s and r.target = %(key)s and not r.is_withdrawn
    and not exists (select from given g where g.id = r.asset_id and g.tag = r.tag)
)
insert into enforcement_receipts as r (tenant_id, target, asset_id, tag, qualified_name, path, requested_at)
select %(tenant)s, %(key)s, g.id, g.tag, g.name, g.path, %(at)s from given g
on conflict (tenant_id, target, asset_id, tag) do update
set is_withdrawn = false, requested_at = excluded.requested_at, confirmed_at = null,
    qualified_name = excluded.qualified_name, path = excluded.path
where r.is_withdrawn or r.path <> excluded.path
