-- Assets, of all tenants, that may have a state in the lake that has not been promoted yet.
select tenant_id, id::text from assets where awaits_lake order by tenant_id, id limit %s
