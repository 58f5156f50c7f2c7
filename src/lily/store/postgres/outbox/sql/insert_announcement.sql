with batch as (
  insert into batches (topic) values (null) returning id
)
insert into announcements (batch_id, tenant_id, body) select id, %(tenant)s, %(body)s from batch
