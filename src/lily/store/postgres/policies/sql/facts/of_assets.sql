-- What decisions need to know of assets, in one round trip: see functions/80_decision_facts.sql. The last column reports
-- whether propagation lags, so that tags that would arrive count.
select facts.*, state.lags
from (select propagation_lags(%(tenant)s) as lags offset 0) state
cross join lateral decision_facts(
  %(tenant)s, %(ids)s::uuid[], %(above)s::uuid[], %(attributes)s, %(tables)s::text[], %(tags)s::text[], %(cut)s, state.lags
) facts
