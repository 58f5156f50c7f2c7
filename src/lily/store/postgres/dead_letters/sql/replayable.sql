-- The next dead letters to replay, oldest first: the given ones, or all that were never replayed.
select id, topic, key, original
from dead_letters
where tenant_id = %(tenant)s and id > %(above)s and id <= %(newest)s and substring(key for octet_length(%(prefix)s)) = %(prefix)s
  and case when %(ids)s::bigint[] is null then replayed_at is null else id = any(%(ids)s::bigint[]) end
order by id
limit %(limit)s
