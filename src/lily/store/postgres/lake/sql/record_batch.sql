-- A commit of the lake: from now on what it brought can be read. Told again after a crash, it changes nothing.
insert into lake_batches (number, committed_at, events, positions)
values (%(number)s, coalesce(%(committed_at)s, clock_timestamp()), %(events)s, %(positions)s)
on conflict (number) do nothing
