-- How far each partition has been applied; shared by all tenants.
select topic, partition, next_offset
from applied
