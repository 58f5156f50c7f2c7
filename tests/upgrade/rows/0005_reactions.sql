-- A reaction that stopped in the middle of a turn, with one event of each tenant parked after a failure.
insert into applied (topic, partition, next_offset) values ('metadata-events@feed', 0, 5);
insert into reaction_turns (reaction, topic, partition, tenant_id, next_offset)
select 'feed', 'metadata-events', 0, id, 7 from tenants;
insert into parked_events (reaction, tenant_id, topic, partition, "offset", key, value)
select 'feed', id, 'metadata-events', 0, 6, id::bytea, '{}' from tenants;
insert into parked_tenants (reaction, tenant_id, attempts, reason) select 'feed', id, 2, 'no answer' from tenants;
insert into batches default values;
insert into announcements (batch_id, tenant_id, body)
select (select max(id) from batches), id, '{"change": "tagged", "tag": "pii"}' from tenants;
