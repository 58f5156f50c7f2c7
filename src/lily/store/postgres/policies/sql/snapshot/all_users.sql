-- The first users of the tenant, and how many there are.
select body, count(*) over () from users where tenant_id = %(tenant)s order by key limit %(limit)s
