-- Every touched edge gets a row. A new one has version 0 and counts as deleted until it is claimed.
insert into edges (tenant_id, from_id, to_id, type, version, created_at, updated_at)
select tenant_id, from_id, to_id, type, 0, time, time
from touched_edges
order by tenant_id, from_id, to_id, type
on conflict do nothing
