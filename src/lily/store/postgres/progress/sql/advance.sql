insert into applied (topic, partition, next_offset)
values (%s, %s, %s)
on conflict (topic, partition) do update
set next_offset = greatest(applied.next_offset, excluded.next_offset), applied_at = clock_timestamp()
