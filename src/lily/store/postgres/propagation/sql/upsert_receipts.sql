-- The pages of a run add up. A run that is repeated finds nothing left to do.
insert into propagations (tenant_id, position, root, correlation, reached, depth, started_at)
select %(tenant)s, r.position, r.root, nullif(r.correlation, ''), r.reached, r.depth, %(started)s
from unnest(%(positions)s::bigint[], %(roots)s::uuid[], %(correlations)s::text[], %(reached)s::integer[],
            %(depths)s::integer[]) as r (position, root, correlation, reached, depth)
on conflict (tenant_id, position) do update
set reached = case when %(paged)s then propagations.reached + excluded.reached
                   else greatest(propagations.reached, excluded.reached) end,
    depth = greatest(propagations.depth, excluded.depth),
    finished_at = clock_timestamp()
