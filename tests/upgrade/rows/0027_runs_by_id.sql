-- A run that became known before the first of its job.
update runs set recorded_at = '2026-01-03 00:00:00Z';
