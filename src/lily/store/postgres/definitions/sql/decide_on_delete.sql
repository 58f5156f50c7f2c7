-- Decides what deletion means for tags. What `decided` names is told by decided.sql.
with decided as (
  select 'on_delete' as name, to_jsonb(d.before) as before, to_jsonb(d.after) as after
  from decide_on_delete(%(value)s) d
)
