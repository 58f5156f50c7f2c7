-- A run that claims exactly what the job's last complete run claimed takes its claims over, without writing them again
-- (docs/decisions/0042). The claims stay stored under the run that made them first.
alter table jobs
  add column claims_digest text,  -- of all claims of the job; null if they are not just those of its last complete run
  add column claims_run text;     -- the run under which they are stored; null if that is `run`
