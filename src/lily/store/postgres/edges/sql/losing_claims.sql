-- The unmasked claims of the batch that a newer, masked claim of the same run had already replaced.
select s.tenant_id, s.job_id::text, s.run, s.from_id::text, s.to_id::text, s.type, false,
       case when c.authorised and r.lineage ->> 'authorised_at' = r.completed_at then s.at
            else greatest(s.at, r.completed_at) end
from staged_claims s
join claims c on c.tenant_id = s.tenant_id and c.job_id = s.job_id and c.run = s.run
             and c.from_id = s.from_id and c.to_id = s.to_id and c.type = s.type
left join runs r on r.tenant_id = s.tenant_id and r.job_id = s.job_id and r.run = s.run
where not s.masking and c.masking
