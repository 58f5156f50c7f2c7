-- One page of the audit, newest first. An action that ends with a dot stands for all that begin with it.
select number, utc_stamp(at), principal, token_id, address, correlation, action, entity, detail,
       encode(previous_hash, 'hex'), encode(hash, 'hex')
from audit
where tenant_id = %(tenant)s
  and (%(below)s::bigint is null or number < %(below)s::bigint)
  and (%(actor)s::text is null or principal = %(actor)s)
  and (%(action)s::text is null or action = %(action)s
       or (right(%(action)s, 1) = '.' and starts_with(action, %(action)s)))
  and (%(subject)s::text is null or entity = %(subject)s)
  and (%(since)s::timestamptz is null or at >= %(since)s::timestamptz)
  and (%(until)s::timestamptz is null or at < %(until)s::timestamptz)
order by number desc
limit %(limit)s
