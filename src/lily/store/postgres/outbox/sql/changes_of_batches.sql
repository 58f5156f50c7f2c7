-- Without the values of large layers: `values_of_change.sql` has them.
select position, tenant_id, asset_id::text, qualified_name, entity_type, layer, version,
       case when not is_large then before end, case when not is_large then after end, causes::text,
       (committed_at at time zone 'UTC')::text
from (
  select *, coalesce(pg_column_size(before), 0) + pg_column_size(after) > 16384 as is_large
  from changes
  where batch_id = any(%s)
) as c
order by position
