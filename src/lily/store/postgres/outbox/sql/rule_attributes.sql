-- The attributes that propagation rules name, one row per tenant with rules.
select tenant_id, array_agg(attribute) as attributes from propagation_rules group by tenant_id
