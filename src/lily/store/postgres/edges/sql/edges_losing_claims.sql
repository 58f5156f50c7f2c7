-- Edges at risk that exist now and that the claims, as they are now, would delete or mask.
select t.tenant_id, t.from_id::text, t.to_id::text, t.type, s.claimed
from touched_edges t
join edges e on e.tenant_id = t.tenant_id and e.from_id = t.from_id and e.to_id = t.to_id and e.type = t.type
cross join lateral (
  select count(*) > 0 as claimed, coalesce(bool_and(c.masking), false) as masking
  from claims c
  where c.tenant_id = t.tenant_id and c.from_id = t.from_id and c.to_id = t.to_id and c.type = t.type and not c.aside
) s
where t.suspect and e.claimed and not e.is_deleted and (not s.claimed or s.masking and not e.claims_mask)
