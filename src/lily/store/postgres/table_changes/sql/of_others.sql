-- Those of the assets that somebody else has stated. The history begins with the change that made an asset: if that is not known,
-- or if an event did not name its sender, the sender is unknown. What is not an asset has no sender.
select a.id::text
from unnest(%(ids)s::uuid[]) as given (id)
join assets a on a.tenant_id = %(tenant)s and a.id = given.id
left join archived_changes h on h.tenant_id = %(tenant)s and h.asset_id = a.id
where not coalesce(h.has_first, false) and not exists (
    select from changes c where c.tenant_id = %(tenant)s and c.asset_id = a.id and c.layer = 'source' and c.before is null)
  or not coalesce(h.senders <@ array[%(by)s::text], true)
  or exists (
    select from changes c cross join lateral jsonb_array_elements(c.causes) cause
    where c.tenant_id = %(tenant)s and c.asset_id = a.id and cause ->> 'by' is distinct from %(by)s)
