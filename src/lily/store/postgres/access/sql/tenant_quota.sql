select requests_per_second, decisions_per_second, events_per_second, bytes_per_second, connections
from tenant_quotas where tenant_id = %(tenant)s
