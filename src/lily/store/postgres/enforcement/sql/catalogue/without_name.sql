-- The ids whose qualified name PostgreSQL does not know.
select i.id::text
from unnest(%(ids)s::uuid[]) as i (id)
where not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = i.id)
  and not exists (
    select from graph_nodes g where g.tenant_id = %(tenant)s and g.id = i.id and g.qualified_name is not null)
order by i.id
