-- The next offset to apply of each partition. Shared by all tenants.
select topic, partition, next_offset
from applied
