-- What Lily has changed, and what the changed objects look like now.
select k.oid::int8, k.schema_name, k.table_name, c.relname is not null, k.view::int8, k.view_source,
       coalesce(k.view_shown = (select md5(w.ev_action::text) from pg_rewrite as w where w.ev_class = k.view)
         and (select v.reloptions @> '{security_barrier=true}' from pg_class as v where v.oid = k.view), false),
       k.policies_source, coalesce(k.policies_shown = lily_enforcement.policies_shown(k.oid), false),
       (k.kept ->> 'row_security')::boolean
from lily_enforcement.tables as k
left join pg_class as c on c.oid = k.oid
