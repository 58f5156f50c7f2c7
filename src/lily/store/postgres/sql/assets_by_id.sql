select {columns}
from assets
where tenant_id = %(tenant)s and id = any(%(ids)s::uuid[])
