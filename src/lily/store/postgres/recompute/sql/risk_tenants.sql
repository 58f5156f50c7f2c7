-- The tenants with incidents that are not resolved, or with anything at risk.
select tenant_id from incidents where state <> 'resolved'
union
select tenant_id from at_risk
order by 1
