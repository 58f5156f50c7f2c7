-- Deletes the old messages of resolved incidents. The incident stays: its state is what they add up to.
with gone as (
  delete from incident_history h using incidents i
  where h.at < now() - %(keep)s::interval
    and i.tenant_id = h.tenant_id and i.incident_id = h.incident_id and i.state = 'resolved'
  returning 1
)
select count(*) from gone
