-- Writes a layer back that was merged field by field, and records the change if the effective state of the edge differs.
with merged as (
  update edges t set
{set_merged}
  where tenant_id = %(tenant_id)s and from_id = %(from_id)s and to_id = %(to_id)s and type = %(type)s
  returning new.tenant_id, new.from_id, new.to_id, new.type, {change}
),
noted as materialized (
  select m.*, s.authority
  from merged m
  join staged_edges s on s.tenant_id = m.tenant_id and s.from_id = m.from_id and s.to_id = m.to_id and s.type = m.type
                     and s.layer = %(layer)s
  where m.differs
),
audited as (
  {audit}
)
insert into edge_changes (batch_id, tenant_id, from_id, to_id, type, before, after, causes)
select %(batch)s, tenant_id, from_id, to_id, type, before, after, %(causes)s
from noted
