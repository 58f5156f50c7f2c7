-- The tenant's versions and settings, by primary key: what a process compares with what it has compiled.
select v.version, v.compiled, s.body
from access_versions v left join access_settings s on s.tenant_id = v.tenant_id
where v.tenant_id = %(tenant)s
