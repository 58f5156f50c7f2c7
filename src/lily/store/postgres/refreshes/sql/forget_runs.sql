delete from refresh_runs where finished_at < now() - %s::interval
