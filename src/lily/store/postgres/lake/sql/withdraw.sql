-- The lake has no batches after this one, and is complete up to its beginning at most. Shared by all tenants.
with gone as (
  delete from lake_batches where number > %(number)s
),
progress as (
  update lake_progress set batch = %(number)s, fresh_as_of = least(fresh_as_of, to_timestamp(%(began)s))
)
update applied set next_offset = coalesce((%(offsets)s::jsonb ->> partition::text)::bigint, 0) where topic = %(topic)s
