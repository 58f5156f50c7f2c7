-- The tag definitions and `on_delete` at a time: those of now, except where a decision has changed one since. Of these, the
-- first later decision has what was valid before it; null if there was nothing.
with changed as (
  select distinct on (d.kind, d.name) d.kind, d.name, d.before
  from decisions d
  where d.tenant_id = %(tenant)s and d.kind in ('tag', 'setting') and d.committed_at > %(at)s::timestamptz
  order by d.kind, d.name, d.position
)
select 'tag', t.key, to_jsonb(t)
from tags t
where t.tenant_id = %(tenant)s and not exists (select from changed c where c.kind = 'tag' and c.name = t.key)
union all
select 'tag', c.name, c.before from changed c where c.kind = 'tag' and c.before is not null
union all
select 'setting', 'on_delete', coalesce(c.before, to_jsonb(s.on_delete))
from tenant_settings() s left join changed c on c.kind = 'setting' and c.name = 'on_delete'
