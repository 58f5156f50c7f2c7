-- Assets of any tenant that may have a past in the lake which has not been carried over.
select tenant_id, id::text from assets where awaits_lake order by tenant_id, id limit %s
