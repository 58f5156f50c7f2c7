-- Returns how many claims were written, and with each such row one that a masked claim has replaced, if there is any.
with written as (
  insert into claims as c (tenant_id, job_id, run, from_id, to_id, type, masking, at, assumed, aside, authorised)
  select tenant_id, job_id, run, from_id, to_id, type, masking, at, assumed, aside, authorised
  from staged_claims
  on conflict (tenant_id, job_id, run, from_id, to_id, type) do update
  set masking = excluded.masking, at = excluded.at, assumed = excluded.assumed, aside = excluded.aside,
      authorised = excluded.authorised
  where (not excluded.assumed, excluded.at) > (not c.assumed, c.at)
  returning new.tenant_id, new.job_id, new.run, new.from_id, new.to_id, new.type, old.at,
            new.authorised, coalesce(not old.masking and new.masking, false) as masked
)
select n.written, m.*
from (select count(*) as written from written) n
left join (
  select w.tenant_id, w.job_id::text, w.run, w.from_id::text, w.to_id::text, w.type, false,
         -- A run that completes with authority decides about what it has said before, not about what others add to it.
         case when w.authorised and r.lineage ->> 'authorised_at' = r.completed_at then w.at
              else greatest(w.at, r.completed_at) end
  from written w
  left join runs r on r.tenant_id = w.tenant_id and r.job_id = w.job_id and r.run = w.run
  where w.masked
) m on true
