-- The tenants' `on_delete` settings and tag definitions, one row per tag.
select s.id, s.on_delete, t.key, t.name, t.propagates, t.direction, t.max_depth, t.edge_types, t.stopped_by_masking
from tenants s left join tags t on t.tenant_id = s.id
where s.id = any(%(tenants)s)
order by s.id, t.key
