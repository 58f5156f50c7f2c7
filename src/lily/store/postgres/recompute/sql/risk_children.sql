-- Each parent with what is below it. The graph has the parents of columns that only the lake has.
select parent, id::text from assets where tenant_id = %(tenant)s and parent is not null
union all
select g.parent::text, g.id::text
from graph_nodes g
where g.tenant_id = %(tenant)s and g.parent is not null
  and not exists (select from assets a where a.tenant_id = %(tenant)s and a.id = g.id)
