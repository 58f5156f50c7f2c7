-- The tenants' `on_delete` settings and the tags that their policies name, then one row per tag definition.
select s.id, s.on_delete, coalesce(v.named_tags, '{}') as named_tags, null as key, null as name,
       null::boolean as propagates, null as direction, null::integer as max_depth, null::text[] as edge_types,
       null::boolean as stopped_by_masking
from tenants s left join access_versions v on v.tenant_id = s.id
where s.id = any (%(tenants)s)
union all
select t.tenant_id, null, null, t.key, t.name, t.propagates, t.direction, t.max_depth, t.edge_types, t.stopped_by_masking
from tags t
where t.tenant_id = any (%(tenants)s)
order by id, key nulls first
