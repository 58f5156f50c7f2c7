-- Subscriptions by id: one, or the page after an id.
select s.id::text,
       jsonb_build_object('id', s.id, 'created_at', utc_stamp(s.created_at), 'updated_at', utc_stamp(s.updated_at)) || s.body
from subscriptions s
where s.tenant_id = %(tenant)s and s.id > %(beyond)s::uuid and (%(id)s::uuid is null or s.id = %(id)s::uuid)
order by s.id
limit %(limit)s
