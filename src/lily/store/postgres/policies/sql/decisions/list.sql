-- One page of the log of decisions, newest first.
select id::text, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), by, principal, action, plane,
       asset_id::text, effect, policy_id, reason, version
from policy_decisions
where tenant_id = %(tenant)s
  and (%(below)s::uuid is null or id < %(below)s::uuid)
  and (%(principal)s::text is null or principal = %(principal)s)
  and (%(effect)s::text is null or effect = %(effect)s)
order by id desc
limit %(limit)s
