-- Enforcement: decisions that fail closed while propagation lags.

-- Where `governance-events` ended when a batch had been published, over all partitions. Ends only grow, so this orders
-- batches by their publication, whatever the clock did.
create function governance_end(ends jsonb) returns bigint
language sql immutable parallel safe as $$
  select coalesce(sum(value::bigint), 0)::bigint from jsonb_each_text(ends -> 'governance-events')
$$;
create index batches_by_governance_end on batches (governance_end(ends)) where published_at is not null;

-- What a tenant's decisions look for before they trust its derived tags.
create index dead_letters_of_propagation on dead_letters (tenant_id)
  where topic = 'governance-events@propagation' and replayed_at is null;
create index graph_awaiting_lake_of_tenant on graph_nodes (tenant_id) where awaits_lake;

-- It gets a parameter. `functions/70_reached_from_elsewhere.sql` creates it again.
drop function reached_from_elsewhere(text, text[], boolean, uuid[], uuid[]);
