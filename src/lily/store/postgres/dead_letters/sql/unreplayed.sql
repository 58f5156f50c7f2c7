-- The next dead letters that are not replayed, oldest first: of the given ones, or of all. An original can be any bytes, so
-- it is not parsed here; an event that has authority contains these, as the API writes it.
select id, topic, coalesce(position('"authorised":true'::bytea in original) > 0, false)
from dead_letters
where tenant_id = %(tenant)s and id > %(above)s and id <= %(newest)s and substring(key for octet_length(%(prefix)s)) = %(prefix)s
  and replayed_at is null and emptied_at is null and (%(ids)s::bigint[] is null or id = any(%(ids)s::bigint[]))
order by id
limit %(limit)s
