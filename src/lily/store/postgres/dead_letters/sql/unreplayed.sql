-- The next dead letters that are not replayed, oldest first: of the given ones, or of all.
select id, topic
from dead_letters
where tenant_id = %(tenant)s and id > %(above)s and id <= %(newest)s and substring(key for octet_length(%(prefix)s)) = %(prefix)s
  and replayed_at is null and (%(ids)s::bigint[] is null or id = any(%(ids)s::bigint[]))
order by id
limit %(limit)s
