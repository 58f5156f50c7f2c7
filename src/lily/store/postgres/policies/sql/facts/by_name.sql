-- Assets that the resources of policies name, and the descendants of those that are named themselves, up to a limit.
with recursive named (id) as (
  (select a.id from assets a where a.tenant_id = %(tenant)s and a.id = any (%(ids)s::uuid[]))
  union
  select c.id from named n join assets c on c.tenant_id = %(tenant)s and c.parent = n.id::text
),
tagged (id) as (
  select t.id from unnest(%(tags)s::text[]) as g (tag) cross join lateral ids_by_stated(g.tag) as t (id)
  union
  select d.asset_id from derived_tags d
  where d.tenant_id = %(tenant)s and (d.tenant_id || '/' || d.tag) = any (%(tag_keys)s::text[])
)
select id::text from (
  (select id from named limit %(limit)s)
  union
  (select id from tagged limit %(limit)s)
  union
  (select a.id from assets a
   where a.tenant_id = %(tenant)s and a.entity_type = any (%(types)s::text[]) limit %(limit)s)
  union
  (select a.id from assets a
   where a.tenant_id = %(tenant)s and %(sources)s::text[] <> '{}' and lower(a.data_source) = any (%(sources)s::text[])
   limit %(limit)s)
  union
  (select a.id from assets a where a.tenant_id = %(tenant)s and %(everything)s limit %(limit)s)
) as found (id)
order by id
limit %(limit)s
