-- Defines a tag unless there is one of that name. record_decision.sql records what `decided` returns.
with decided as (
  insert into tags as t (tenant_id, key, name, propagates, direction, max_depth, edge_types, stopped_by_masking)
  values (%(tenant)s, %(key)s, %(name)s, %(propagates)s, %(direction)s, %(max_depth)s, %(edge_types)s,
          %(stopped_by_masking)s)
  on conflict do nothing
  returning t.key as name, null::jsonb as before, {shown} as after
)
