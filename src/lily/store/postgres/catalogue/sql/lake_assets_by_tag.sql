-- The next ids, after `start`, of assets that only the lake has and that a tag reached along edges.
select distinct d.asset_id::text
from derived_tags d
where d.tenant_id = %(tenant)s and d.tag = %(tag)s and d.kind <> 'inherited' and d.asset_id > %(start)s::uuid
  and not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = d.asset_id)
order by 1
limit %(limit)s
