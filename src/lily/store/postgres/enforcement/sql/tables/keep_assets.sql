with given as materialized (select unnest(%(ids)s::uuid[]) as id),
gone as (
  delete from enforcement_assets a
  where a.tenant_id = %(tenant)s and a.target = %(key)s and not exists (select from given g where g.id = a.asset_id)
)
insert into enforcement_assets (tenant_id, target, asset_id)
select %(tenant)s, %(key)s, id from given
on conflict do nothing
