-- What a lineage graph shows of its assets. The tags of the layers only where there are any.
select id::text, qualified_name, name, entity_type, is_deleted, awaits_lake,
       case when tags <> '{}' then jsonb_build_array(tags, enriched -> 'tags', "user" -> 'tags', source -> 'tags') end
from assets
where tenant_id = %(tenant)s and id = any(%(ids)s::uuid[])
