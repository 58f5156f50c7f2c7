-- The next ids, after `start`, of assets that only the lake has and that are at risk along edges; with a tag, of those that
-- it reached too.
select distinct r.asset_id::text
from incidents i
join at_risk r on r.incident_id = i.incident_id
where i.tenant_id = %(tenant)s and i.state <> 'resolved' and r.tenant_id = %(tenant)s and r.asset_id > %(start)s::uuid
  and not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = r.asset_id)
  and (%(tag)s::text is null or exists (
    select from derived_tags d
    where d.asset_id = r.asset_id and d.tag = %(tag)s and d.kind <> 'inherited' and d.tenant_id = %(tenant)s))
order by 1
limit %(limit)s
