-- Everything that a process compiles, of one moment. A body is null where the caller, who has the version `known`, has it.
select 'version' as kind, '' as key, v.version, jsonb_build_array(v.compiled, s.body) as body
from access_versions v left join access_settings s on s.tenant_id = v.tenant_id
where v.tenant_id = %(tenant)s
union all
select 'policy', key, version, case when version > %(known)s then body end from policies where tenant_id = %(tenant)s
union all
select 'role', key, version, case when version > %(known)s then body end from roles where tenant_id = %(tenant)s
union all
select 'scraper-policy', key, version, case when version > %(known)s then body end
from scraper_policies where tenant_id = %(tenant)s
union all
select 'engine-mapping', key, version, case when version > %(known)s then body end
from engine_mappings where tenant_id = %(tenant)s
