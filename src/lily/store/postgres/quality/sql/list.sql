-- Policies by key: one, or the page after a key, each with how many findings it has open.
select p.key, p.body || jsonb_build_object(
         'open_findings', (
           select count(*) from quality_findings q
           where q.policy = p.key and q.tenant_id = %(tenant)s and q.closed_at is null and not q.is_silent),
         'created_at', utc_stamp(p.created_at), 'updated_at', utc_stamp(p.updated_at), 'judged_at', utc_stamp(p.judged_at))
from quality_policies p
where p.tenant_id = %(tenant)s and p.key > %(beyond)s and (%(key)s::text is null or p.key = %(key)s)
order by p.key
limit %(limit)s
