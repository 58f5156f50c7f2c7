insert into reaction_turns (reaction, topic, partition, tenant_id, next_offset)
values (%s, %s, %s, %s, %s)
on conflict (reaction, topic, partition, tenant_id) do update set next_offset = excluded.next_offset
