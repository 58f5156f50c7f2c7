-- The script of a request, once a worker has written it.
select t.plan ->> 'script' from enforcement_targets t
where t.tenant_id = %(tenant)s and t.key = %(key)s and t.plan ->> 'request' = %(request)s
