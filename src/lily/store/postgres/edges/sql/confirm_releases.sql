-- A person with authority confirms that jobs no longer claim these edges: what they claimed before is no longer held. Returns
-- the edges of claims that were.
with confirmed as (
  select * from unnest(%(tenants)s::text[], %(jobs)s::uuid[], %(froms)s::uuid[], %(tos)s::uuid[], %(types)s::text[],
                       %(clocks)s::text[]) as c (tenant_id, job_id, from_id, to_id, type, at)
),
noted as (
  insert into released_claims as r (tenant_id, job_id, from_id, to_id, type, at)
  select tenant_id, job_id, from_id, to_id, type, max(at) from confirmed group by 1, 2, 3, 4, 5
  on conflict (job_id, from_id, to_id, type, tenant_id) do update set at = excluded.at where excluded.at > r.at
)
delete from held_claims h using confirmed c
where h.tenant_id = c.tenant_id and h.job_id = c.job_id and h.from_id = c.from_id and h.to_id = c.to_id and h.type = c.type
  and h.at < c.at
returning h.tenant_id, h.job_id::text, h.from_id::text, h.to_id::text, h.type
