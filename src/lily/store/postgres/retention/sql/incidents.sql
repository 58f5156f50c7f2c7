-- Deletes incidents that were resolved long ago and of which nothing else is left: neither messages, nor notifications, nor
-- something at risk.
with looked as materialized (
  select i.tenant_id, i.incident_id
  from incidents i
  where i.state = 'resolved' and i.updated_at < now() - %(keep)s::interval
    and not exists (
      select from incident_history h where h.tenant_id = i.tenant_id and h.incident_id = i.incident_id)
    and not exists (
      select from notifications n where n.tenant_id = i.tenant_id and n.incident_id = i.incident_id)
    and not exists (
      select from at_risk r where r.tenant_id = i.tenant_id and r.incident_id = i.incident_id)
  order by i.updated_at
  limit %(most)s
),
assets as (
  delete from incident_assets a using looked l where a.tenant_id = l.tenant_id and a.incident_id = l.incident_id
),
names as (
  delete from incident_names n using looked l where n.tenant_id = l.tenant_id and n.incident_id = l.incident_id
),
gone as (
  delete from incidents i using looked l
  where i.tenant_id = l.tenant_id and i.incident_id = l.incident_id and i.state = 'resolved'
  returning 1
)
select (select count(*) from gone), case when (select count(*) from looked) = %(most)s then 0 end, 0
