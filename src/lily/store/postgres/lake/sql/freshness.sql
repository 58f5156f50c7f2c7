-- Everything that the log took until then is in the lake.
insert into lake_progress (fresh_as_of, batch) values (%(fresh_as_of)s, %(batch)s)
on conflict (one) do update
set fresh_as_of = greatest(lake_progress.fresh_as_of, excluded.fresh_as_of), batch = greatest(lake_progress.batch, excluded.batch)
