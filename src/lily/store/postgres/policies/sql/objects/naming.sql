-- Who names a subject: the first of each kind, and how many there are.
select 'policy', p.body ->> 'id', count(*) over ()
from policies p where p.tenant_id = %(tenant)s and %(subject)s = any (p.names)
union all
select 'role', r.body ->> 'name', count(*) over ()
from roles r where r.tenant_id = %(tenant)s and %(subject)s = any (r.names)
union all
select 'user', u.body ->> 'name', count(*) over ()
from users u where u.tenant_id = %(tenant)s and %(subject)s = any (u.names)
order by 1, 2
limit %(limit)s
