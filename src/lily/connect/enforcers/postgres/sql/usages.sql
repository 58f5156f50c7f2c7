select u.schema::int8, u.role::int8
from lily_enforcement.usages as u
join pg_namespace as n on n.oid = u.schema
join pg_roles as r on r.oid = u.role
