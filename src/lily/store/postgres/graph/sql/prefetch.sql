-- And the assets that they lead to, breadth first, as far as the limit on rows reaches. `behind` are assets to leave out.
union
select next.id
from reach r
cross join lateral (
  select e.{there} as id
  from edges e
  where e.tenant_id = %(tenant)s and e.{here} = r.id and not e.is_deleted and e.{there} <> all (%(behind)s::uuid[])
    {skip_deleted}
  offset 0
) as next
