-- Logs decisions. Repeating it changes nothing.
insert into policy_decisions
  (id, tenant_id, at, by, principal, action, plane, asset_id, effect, policy_id, reason, version)
select d.id, %(tenant)s, d.at, d.by, d.principal, d.action, d.plane, d.asset_id, d.effect, d.policy_id, d.reason, d.version
from jsonb_to_recordset(%(rows)s) as d (
  id uuid, at timestamptz, by text, principal text, action text, plane text, asset_id uuid, effect text, policy_id text,
  reason text, version bigint
)
on conflict do nothing
returning id
