-- Deletes a tag that is no longer defined from all assets that derive it.
with gone as (
  delete from derived_tags
  where tenant_id || '/' || tag = %(tenant)s || '/' || %(tag)s
    and not exists (select from tags where tenant_id = %(tenant)s and key = %(tag)s)
  returning *
),
recorded as (
  insert into derived_tag_history (tenant_id, tag, asset_id, kind, via, depth, steps, since, until)
  select tenant_id, tag, asset_id, kind, via, depth, steps, since, now() from gone where since < now()
  on conflict do nothing
)
insert into touched (tag, id, root, had)
select %(tag)s, id, id, true from (select distinct asset_id as id from gone) as assets
