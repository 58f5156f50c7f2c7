-- Batches that were published long ago. Their changes stay, as history; what rules stated has become changes itself.
with gone as (
  delete from batches where published_at < now() - %s::interval returning id
),
said as (
  delete from rule_statements s using gone where s.batch_id = gone.id
)
select count(*) from gone
