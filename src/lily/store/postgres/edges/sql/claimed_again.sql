-- Claims are no longer held where their job has claimed the edge again, at least as openly.
delete from held_claims h
using touched_edges t
where h.tenant_id = t.tenant_id and h.from_id = t.from_id and h.to_id = t.to_id and h.type = t.type
  and exists (
    select from claims c
    where c.tenant_id = h.tenant_id and c.job_id = h.job_id and c.from_id = h.from_id and c.to_id = h.to_id
      and c.type = h.type and not c.aside and (h.masking or not c.masking))
