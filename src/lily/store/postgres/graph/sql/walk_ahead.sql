-- And what lies behind them, breadth first, as far as rows are fetched; `behind` names assets that are not to be entered
-- again.
union
select next.id
from reach r
cross join lateral (
  select e.{there} as id
  from edges e
  where e.tenant_id = %(tenant)s and e.{here} = r.id and not e.is_deleted and e.{there} <> all (%(behind)s::uuid[])
    {living}
  offset 0
) as next
