-- The lake has everything that the log had at `fresh_as_of`.
insert into lake_progress (fresh_as_of, batch) values (%(fresh_as_of)s, %(batch)s)
on conflict (one) do update
set fresh_as_of = greatest(lake_progress.fresh_as_of, excluded.fresh_as_of), batch = greatest(lake_progress.batch, excluded.batch)
