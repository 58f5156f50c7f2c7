-- Encrypted rows of all tenants, after the given one.
select tenant_id, {key}, wrapped_key, sealed
from {table}
where (tenant_id, {key}) > (%(tenant)s, %(after)s)
order by tenant_id, {key}
limit %(limit)s
