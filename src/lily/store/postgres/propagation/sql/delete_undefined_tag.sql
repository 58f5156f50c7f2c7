-- Deletes a tag that is no longer defined from all assets that derive it.
with gone as (
  delete from derived_tags
  where tenant_id || '/' || tag = %(tenant)s || '/' || %(tag)s
    and not exists (select from tags where tenant_id = %(tenant)s and key = %(tag)s)
  returning asset_id
)
insert into touched (tag, id, root, had)
select %(tag)s, id, id, true from (select distinct asset_id as id from gone) as assets
on conflict do nothing
