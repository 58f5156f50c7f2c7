-- Those of changed assets that have open findings, or that a policy about changes watches.
select i.id::text
from unnest(%(ids)s::uuid[]) as i (id)
where exists (
    select from quality_findings q where q.tenant_id = %(tenant)s and q.asset_id = i.id and q.closed_at is null)
   or exists (
    select from quality_policies p
    where p.tenant_id = %(tenant)s and p.policy_type = any (%(types)s::text[]) and (p.asset_id = i.id or p.asset_id is null))
