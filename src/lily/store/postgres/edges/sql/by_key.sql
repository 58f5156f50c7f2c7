-- The given edges as they are stored.
select a.n, e.source, e.source_at, e.source_clocks, e."user", e.user_at, e.user_clocks, e.claimed, e.claims_mask,
       e.claims_mask_by_authority, e.claims_held
from unnest(%(numbers)s::int[], %(froms)s::uuid[], %(tos)s::uuid[], %(types)s::text[]) as a (n, from_id, to_id, type)
join edges e on e.tenant_id = %(tenant)s and e.from_id = a.from_id and e.to_id = a.to_id and e.type = a.type
