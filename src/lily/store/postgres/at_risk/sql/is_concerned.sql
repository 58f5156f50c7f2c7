-- Whether a change of the tenant's graph can change what is at risk.
select exists (select from incidents where tenant_id = %(tenant)s and state <> 'resolved')
