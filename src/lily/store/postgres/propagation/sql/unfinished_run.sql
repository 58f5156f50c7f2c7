-- The changes that the tenant's unfinished run is about, and whether it has taken them in; no row if there is none.
select about, marked from propagation_runs where tenant_id = %s
