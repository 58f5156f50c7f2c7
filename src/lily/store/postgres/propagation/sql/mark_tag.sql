-- Marks the assets that a changed definition may affect: those that state or derive the tag.
insert into marked (id, root, known)
select id, id, true from (
  select a.id from assets a
  where a.tenant_id = %(tenant)s and a.stated <> '{}'
    and tags_of_tenant(a.tenant_id, a.stated) @> array[%(tenant)s || '/' || %(tag)s]
    and exists (select from graph_nodes g where g.tenant_id = a.tenant_id and g.id = a.id)
  union
  select d.asset_id from derived_tags d where d.tenant_id || '/' || d.tag = %(tenant)s || '/' || %(tag)s
) as concerned
on conflict do nothing
