-- While propagation lags: the tags of assets from elsewhere, with those that would arrive. Otherwise no row.
select r.asset_id::text, coalesce(r.propagated, '{}'), array(select jsonb_object_keys(r.inherited))
from (select propagation_lags(%(tenant)s) as lags offset 0) state
cross join lateral reached_from_elsewhere(
  %(tenant)s, %(tags)s::text[], %(cut)s, %(ids)s::uuid[], %(parents)s::uuid[], true, false,
  %(held_ids)s::uuid[], %(held_parents)s::uuid[]
) r
where state.lags
