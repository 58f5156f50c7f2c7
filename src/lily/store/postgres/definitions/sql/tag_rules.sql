-- The tenant's `on_delete` setting and tag definitions, one row per tag.
select s.on_delete, t.key, t.name, t.propagates, t.direction, t.max_depth, t.edge_types, t.stopped_by_masking
from tenant_settings() s left join tags t on t.tenant_id = %(tenant)s
order by t.key
