-- The tenant's `on_delete` setting and the tags that its policies name, then one row per tag definition.
select s.on_delete, coalesce(v.named_tags, '{}') as named_tags, null as key, null as name,
       null::boolean as propagates, null as direction, null::integer as max_depth, null::text[] as edge_types,
       null::boolean as stopped_by_masking
from tenant_settings() s left join access_versions v on v.tenant_id = %(tenant)s
union all
select null, null, t.key, t.name, t.propagates, t.direction, t.max_depth, t.edge_types, t.stopped_by_masking
from tags t
where t.tenant_id = %(tenant)s
order by key nulls first
