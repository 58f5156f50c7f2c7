-- Where a partition is to be continued. Locks the row, so that of two attempts at one batch the second sees the first.
insert into applied (topic, partition, next_offset)
values (%(topic)s, %(partition)s, 0)
on conflict (topic, partition) do update set next_offset = applied.next_offset
returning next_offset
