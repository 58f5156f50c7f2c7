-- Replaces stored values by those of the run. A null value deletes the row.
with gone as (
  delete from derived_attributes where ctid = any (array(
    select d.ctid
    from new_labels n
    cross join lateral (
      select ctid from derived_attributes d
      where d.asset_id = n.asset_id and d.rule = n.rule and d.attribute = n.attribute and d.item = n.item
        and d.tenant_id = %(tenant)s
      offset 0) d
    where n.value is null))
)
insert into derived_attributes (tenant_id, rule, asset_id, item, attribute, value, via, depth, stated)
select %(tenant)s, rule, asset_id, item, attribute, value, via, depth, stated
from new_labels
where value is not null
on conflict (asset_id, rule, attribute, item, tenant_id)
do update set value = excluded.value, via = excluded.via, depth = excluded.depth, stated = excluded.stated
