-- What the change that an event caused in an asset reached.
select coalesce(sum(p.reached), 0)::integer, coalesce(max(p.depth), 0), max(p.finished_at)
from changes c
join propagations p on p.tenant_id = c.tenant_id and p.position = c.position
where c.tenant_id = %(tenant)s and c.asset_id = %(id)s and c.layer = %(layer)s
  and c.causes @> jsonb_build_array(jsonb_build_object('id', %(event)s::text))
