-- The attributes that rules name, of every tenant that has some.
select tenant_id, array_agg(attribute) as attributes from propagation_rules group by tenant_id
