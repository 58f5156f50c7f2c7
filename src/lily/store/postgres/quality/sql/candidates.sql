-- The next assets after an id that a policy may have something to say about, in the order of ids: what it watches, and what
-- it has open findings about. Null and empty parameters do not narrow.
select id::text from (
  (select distinct q.asset_id as id
   from quality_findings q
   where q.tenant_id = %(tenant)s and q.policy = %(policy)s and q.closed_at is null and q.asset_id > %(after)s
   order by q.asset_id
   limit %(limit)s)
  union
  select %(asset)s::uuid where %(asset)s::uuid > %(after)s
  union
  (select a.id
   from assets a
   where %(every)s and a.tenant_id = %(tenant)s and a.id > %(after)s
     and (%(types)s::text[] = '{}' or a.entity_type = any (%(types)s))
     and (%(sources)s::text[] = '{}' or a.data_source = any (%(sources)s))
     and (not %(gone)s or a.is_deleted or %(private)s = any (a.tags))
     and (%(used_since)s::date is null or exists (
       select from usage_days u where u.asset_id = a.id and u.tenant_id = %(tenant)s and u.day >= %(used_since)s))
     and (%(unused_since)s::date is null or not exists (
       select from usage_days u
       where u.asset_id = a.id and u.tenant_id = %(tenant)s and u.day > %(unused_since)s and u.queries > 0))
   order by a.id
   limit %(limit)s)
) found
order by id
limit %(limit)s
