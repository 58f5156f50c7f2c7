(parent is null or not exists (
  -- From the parent upwards. `inheritable` are the hidden tags that nothing on the way down suppresses; a deleted asset
  -- passes none down if the tenant cuts there.
  with recursive up (id, above, name, stated, suppressed, inheritable, level) as (
    select p.id, p.parent, p.qualified_name, p.stated, p.suppressed,
           array(select t from unnest(%(hidden_tags)s::text[]) as t
                 where t <> all (assets.suppressed) and not (%(cut)s and p.is_deleted)), 1
    from assets p where p.tenant_id = %(tenant)s and p.id = assets.parent::uuid
    union all
    select p.id, p.parent, p.qualified_name, p.stated, p.suppressed,
           array(select t from unnest(up.inheritable) as t
                 where t <> all (up.suppressed) and not (%(cut)s and p.is_deleted)), up.level + 1
    from up join assets p on p.tenant_id = %(tenant)s and p.id = up.above::uuid
    where up.level < 64
  )
  select from up
  where up.id = any (%(hidden_ids)s::uuid[])
     or lower(up.name) = any (%(hidden_names)s::text[])
     or cardinality(up.inheritable) > 0 and (
       up.stated && up.inheritable
       or exists (
         select from derived_tags d
         where d.tenant_id = %(tenant)s and d.asset_id = up.id and d.tag = any (up.inheritable)
           and d.tag = any (%(tags)s::text[]) and d.kind = 'propagated' and d.tag <> all (up.suppressed)
       )
     )
))
