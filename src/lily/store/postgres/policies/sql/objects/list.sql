-- One page of objects, by key.
select key, body from {table}
where tenant_id = %(tenant)s and key > %(beyond)s
order by key
limit %(limit)s
