-- Deletes the beginning of the history of assets, as far as the lake has recorded it, and notes what reads still need to know of
-- it. Walks in the order of batches. What was not published stays, and what shows who ended something that is held or was
-- deleted without authority.
with recorded as (
  select least(now() - %(keep)s::interval, p.fresh_as_of) as until from lake_progress p  -- no row: the lake has nothing
),
looked as materialized (
  select c.ctid as row, c.batch_id, c.position, coalesce(c.committed_at < (select until from recorded), false) as is_old
  from changes c
  where (c.batch_id, c.position) > (%(batch)s, %(position)s)
  order by c.batch_id, c.position
  limit %(most)s
),
gone as (
  delete from changes c
  where c.ctid = any (array(select row from looked where is_old))
    and not exists (select from batches b where b.id = c.batch_id)
    and not exists (
      select from assets a
      where a.tenant_id = c.tenant_id and a.id = c.asset_id
        and (a.held is not null and c.before -> 'tags' is distinct from c.after -> 'tags'
             or a.held_parents is not null and c.before -> '$parent' is distinct from c.after -> '$parent'
             or a.is_deleted and not a.is_cut and c.after @> '{"$deleted": true}'
                and not coalesce(c.before @> '{"$deleted": true}', false)))
  returning c.tenant_id, c.asset_id, c.committed_at, c.causes, c.layer = 'source' and c.before is null as is_first
),
noted as (
  insert into archived_changes as a (tenant_id, asset_id, first_at, last_at, senders, has_first)
  select g.tenant_id, g.asset_id, min(g.committed_at), max(g.committed_at),
         coalesce(array_agg(distinct coalesce(cause ->> 'by', '')) filter (where cause is not null), '{}'), bool_or(g.is_first)
  from gone g left join lateral jsonb_array_elements(g.causes) cause on true
  group by g.tenant_id, g.asset_id
  on conflict (asset_id, tenant_id) do update
  set first_at = least(a.first_at, excluded.first_at), last_at = greatest(a.last_at, excluded.last_at),
      senders = array(select distinct s from unnest(a.senders || excluded.senders) s order by s),
      has_first = a.has_first or excluded.has_first
)
select (select count(*) from gone), last.batch_id, last.position
from (values (1)) as one (row)
left join (
  select batch_id, position, count(*) over () as rows, bool_or(is_old) over () as any_old from looked
  order by batch_id desc, position desc limit 1
) last on last.rows = %(most)s and last.any_old
