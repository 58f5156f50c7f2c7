-- When a run became known. A run id is chosen by its producer, and another job may send the same one later: the job that had
-- it first is the one that the id means.
alter table runs add column recorded_at timestamptz not null default now();
