-- A tag and a parent that a source no longer states, without authority.
insert into assets (tenant_id, id, qualified_name, source, source_at, source_clocks, created_at, updated_at)
select id, '00000000-0000-0000-0000-000000000030', 'held', jsonb_build_object(
         'name', 'held', '$type', 'table', '$deleted', false, 'tags', jsonb_build_object(), '$held:pii', 'PII',
         '$parent', '00000000-0000-0000-0000-000000000031',
         '$held_parent:00000000-0000-0000-0000-000000000032', true),
       '2026-01-02T00:00:00.000000Z/b',
       jsonb_build_object('$held:pii', '2026-01-01T00:00:00.000000Z/a',
                          '$held_parent:00000000-0000-0000-0000-000000000032', '2026-01-01T00:00:00.000000Z/a'),
       now(), now()
from tenants where id in ('north', 'south');
insert into held_parents (tenant_id, id, parent)
select id, '00000000-0000-0000-0000-000000000030', '00000000-0000-0000-0000-000000000032'
from tenants where id in ('north', 'south');
