-- Marks the assets that a change of the tenant's `on_delete` may affect.
insert into marked (id, root, known)
select g.id, g.id, true
from graph_nodes g join assets a on a.tenant_id = g.tenant_id and a.id = g.id
where g.tenant_id = %(tenant)s and a.is_deleted
on conflict do nothing
