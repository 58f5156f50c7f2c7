-- One page of a list as in search.sql, without assets that are below hidden ones or have a hidden tag from elsewhere. That
-- is decided for the first assets that meet the other conditions, `examined` of them, and once for each of their parents.
-- If too few are left, the caller goes on after the last one examined, which every row names; without any left, a row has
-- nothing else.
with recursive candidates as materialized (
  select assets.id, parent::uuid as parent, suppressed, {key} as sorted_by
  from {assets}
  where tenant_id = %(tenant)s and {conditions}
  order by {key} {direction}, assets.id {direction}
  limit %(examined)s
),
-- From each parent upwards. `inheritable` are the hidden tags that nothing on the way down suppresses; a deleted asset
-- passes none down if the tenant cuts there.
up (root, id, above, name, stated, suppressed, inheritable, level) as (
  select r.root, p.id, p.parent, p.qualified_name, p.stated, p.suppressed,
         array(select t from unnest(%(hidden_tags)s::text[]) as t where not (%(cut)s and p.is_cut)), 1
  from (select distinct parent from candidates where parent is not null) as r (root)
  cross join lateral (
    select s.id, s.parent, s.qualified_name, s.stated, s.suppressed, s.is_cut
    from assets s where s.tenant_id = %(tenant)s and s.id = r.root offset 0
  ) p
  union all
  select up.root, p.id, p.parent, p.qualified_name, p.stated, p.suppressed,
         array(select t from unnest(up.inheritable) as t where t <> all (up.suppressed) and not (%(cut)s and p.is_cut)),
         up.level + 1
  from up cross join lateral (
    select s.id, s.parent, s.qualified_name, s.stated, s.suppressed, s.is_cut
    from assets s where s.tenant_id = %(tenant)s and s.id = up.above::uuid offset 0
  ) p
  where up.level < 64
),
arrived as materialized (
  select d.asset_id, d.tag, d.kind = 'propagated' as inheritable
  from derived_tags d
  where d.tenant_id = %(tenant)s and d.tag = any (%(hidden_tags)s::text[]) and d.tag = any (%(tags)s::text[])
    and d.kind <> 'inherited' and d.asset_id = any (array(select id from candidates union select id from up))
),
closed as materialized (
  select up.root,
         bool_or(up.id = any (%(hidden_ids)s::uuid[]) or lower(up.name) = any (%(hidden_names)s::text[])) as with_descendants
  from up
  group by up.root
),
inherited as materialized (
  select up.root, array_agg(distinct t.tag) as tags
  from up cross join lateral unnest(up.inheritable) as t (tag)
  where t.tag = any (up.stated) or exists (
    select from arrived a where a.asset_id = up.id and a.inheritable and a.tag = t.tag and a.tag <> all (up.suppressed)
  )
  group by up.root
),
visible as materialized (
  select c.id as visible_id, c.sorted_by
  from candidates c left join closed on closed.root = c.parent left join inherited on inherited.root = c.parent
  where not coalesce(closed.with_descendants, false)
    and coalesce(inherited.tags <@ c.suppressed, true)
    and not exists (select from arrived a where a.asset_id = c.id and a.tag <> all (c.suppressed))
  order by c.sorted_by {direction}, c.id {direction}
  limit %(limit)s
),
page as materialized (
  select {columns}, visible.sorted_by
  from visible cross join lateral (
    select * from assets s where s.tenant_id = %(tenant)s and s.id = visible.visible_id offset 0
  ) assets
),
examined as (
  select count(*) as number, (array_agg(c.sorted_by order by c.sorted_by {direction}, c.id {direction}))[count(*)] as last_key,
         (array_agg(c.id order by c.sorted_by {direction}, c.id {direction}))[count(*)]::text as last_id
  from candidates c
)
select page.*, examined.number, examined.last_key, examined.last_id, r.propagated, r.inherited, r.incidents
from examined
left join page on true
left join reached_from_elsewhere(
  %(tenant)s, %(tags)s::text[], %(cut)s, (select array_agg(asset_id) from page), (select array_agg(parent_id) from page),
  p_risks => true
) r on r.asset_id = page.asset_id
order by page.sorted_by {direction}, page.asset_id {direction}
