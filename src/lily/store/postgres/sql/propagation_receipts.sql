insert into propagations (tenant_id, position, reached, depth, started_at)
select %(tenant)s, r.position, r.reached, r.depth, %(started)s
from unnest(%(positions)s::bigint[], %(reached)s::integer[], %(depths)s::integer[]) as r (position, reached, depth)
on conflict (tenant_id, position) do update
set reached = greatest(propagations.reached, excluded.reached), depth = greatest(propagations.depth, excluded.depth),
    finished_at = clock_timestamp()
