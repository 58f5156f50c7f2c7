-- Sets the tenant's `on_delete`. record_decision.sql records what `decided` returns.
with decided as (
  select 'on_delete' as name, to_jsonb(d.before) as before, to_jsonb(d.after) as after
  from decide_on_delete(%(value)s) d
)
