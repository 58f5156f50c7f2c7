-- A page of a tenant's dead letters, newest first. An original can be a megabyte, so a list shows its beginning only.
select id, topic, partition, "offset", errors, refused_at, replayed_at,
       substring(original for %(shown)s), octet_length(original)
from dead_letters
where tenant_id = %(tenant)s and emptied_at is null and (%(below)s::bigint is null or id < %(below)s::bigint)
order by id desc
limit %(limit)s
