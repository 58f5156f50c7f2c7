-- customers -> newsletter -> stats as a source states it, and customers -> old as a job claims it. PII of customers
-- reaches all three; a person suppressed it on stats. Deletion cuts in one of the tenants, and a tag of its own travels.
update tenants set on_delete = 'cut' where id = 'south';
insert into tags (tenant_id, key, name, propagates, direction, max_depth, edge_types)
select id, 'finance', 'Finance', true, 'upstream', 1, '{used-in}' from tenants;

create temporary table drawn as
select a.tenant_id, a.id as from_id, b.id as to_id, claimed
from (values ('shop.customers', 'shop.newsletter', false), ('shop.newsletter', 'shop.stats', false),
             ('shop.customers', 'shop.old', true)) as e (start, finish, claimed)
join known a on a.name = e.start
join known b on b.name = e.finish and b.tenant_id = a.tenant_id;

insert into edges (tenant_id, from_id, to_id, type, source, source_at, claimed, created_at, updated_at)
select tenant_id, from_id, to_id, 'derived-from',
       case when not claimed then '{"$deleted": false}'::jsonb end,
       case when not claimed then '2026-01-04T00:00:00.000000Z/drawn' end,
       claimed, '2026-01-04 00:00:00Z', '2026-01-04 00:00:00Z'
from drawn;
insert into jobs (tenant_id, job_id, run, completed_at)
select id, md5(id)::uuid, 'run-1', '2026-01-04T00:00:00.000000Z/done' from tenants;
insert into claims (tenant_id, job_id, run, from_id, to_id, type, masking, at)
select tenant_id, md5(tenant_id)::uuid, 'run-1', from_id, to_id, 'derived-from', false, '2026-01-04T00:00:00.000000Z/done'
from drawn where claimed;
insert into batches (published_at, ends, topic, partition, begin_offset, end_offset)
values (now(), '{"lineage-events": {"0": 3}}', 'lineage-ingestion-events', 0, 0, 3);
insert into edge_changes (batch_id, tenant_id, from_id, to_id, type, after, causes)
select (select max(id) from batches), tenant_id, from_id, to_id, 'derived-from',
       '{"propagates": true, "masking": false, "is_deleted": false}', '[{"id": "drawn", "time": "2026-01-04T00:00:00.000000Z", "by": "crawler"}]'
from drawn;

insert into graph_nodes (tenant_id, id, parent)
select k.tenant_id, k.id, nullif(shop.id, k.id)
from known k join known shop on shop.tenant_id = k.tenant_id and shop.name = 'shop'
where k.name <> 'shop.customers.email';
insert into derived_tags (tenant_id, tag, asset_id, kind, via, depth, steps, root)
select d.tenant_id, 'pii', d.to_id, 'propagated', d.from_id, depth, depth, d.from_id
from drawn d
join known k on k.id = d.to_id
join (values ('shop.newsletter', 1), ('shop.old', 1), ('shop.stats', 2)) as reached (name, depth) on reached.name = k.name;
update assets
set "user" = jsonb_build_object('$suppressed:pii', jsonb_build_object('tag', 'PII', 'by', 'tester', 'reason', 'aggregated', 'origins', '[]'::jsonb)),
    user_at = '2026-01-05T00:00:00.000000Z/suppressed', version = 2, updated_at = '2026-01-05 00:00:00Z'
where qualified_name = 'shop.stats';
insert into new_origins (tenant_id, asset_id, tag, origin)
select s.tenant_id, s.id, 'pii', c.id
from known s join known c on c.tenant_id = s.tenant_id and c.name = 'shop.customers'
where s.name = 'shop.stats';

insert into propagations (tenant_id, position, root, correlation, reached, depth, started_at)
select tenant_id, row_number() over (order by tenant_id), id, 'write-1', 3, 2, '2026-01-04 00:00:00Z'
from known where name = 'shop.customers';
insert into propagated (batch_id, tenant_id, tag, change, root, assets)
select (select max(id) from batches), tenant_id, 'pii', 'added', (array_agg(from_id))[1], array_agg(to_id)
from drawn group by tenant_id;
insert into decisions (batch_id, tenant_id, kind, name, after, by)
select (select max(id) from batches), id, 'tag', 'Finance', '{"propagates": true}', 'tester' from tenants;
