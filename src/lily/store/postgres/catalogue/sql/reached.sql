-- The derived tags of assets, and the incidents that put them at risk, given their parents. The assets themselves need not
-- be in PostgreSQL.
select asset_id::text, propagated, inherited, incidents
from reached_from_elsewhere(%(tenant)s, %(tags)s::text[], %(cut)s, %(ids)s::uuid[], %(parents)s::uuid[], p_risks => true,
                            p_held_ids => %(held_ids)s::uuid[], p_held_parents => %(held_parents)s::uuid[])
