-- The columns of tables, in order, that the newest analyzed query which makes the table gives it.
select t.name, m.columns
from unnest(%(names)s::text[]) as t (name)
cross join lateral (
  select q.made -> t.name as columns from run_queries q
  where q.tenant_id = %(tenant)s and q.made ? t.name
  order by q.at desc limit 1
) m
