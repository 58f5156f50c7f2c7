-- The entries of one chain in order; those without a number come last.
select number, encode(previous_hash, 'hex'), encode(hash, 'hex'), action, tenant_id, number::text, utc_stamp(at), principal,
       token_id, address, correlation, action, entity, detail::text
from audit a
where a.tenant_id = %(tenant)s
order by a.number
