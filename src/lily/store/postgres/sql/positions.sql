-- How far each partition has been applied; shared by all tenants.
select topic, partition, next_offset, applied_at
from applied
