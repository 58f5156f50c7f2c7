-- A commit of the lake: its events can be read from now on. Idempotent: it may be recorded again after a crash.
insert into lake_batches (number, committed_at, events, positions)
values (%(number)s, coalesce(%(committed_at)s, clock_timestamp()), %(events)s, %(positions)s)
on conflict (number) do nothing
