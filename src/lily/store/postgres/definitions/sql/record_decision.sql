-- Follows the statement of every decision: if it changed something, queues the change for publication and audits it.
, batch as (
  insert into batches (published_at) select null from decided where before is distinct from after returning id
),
{recorded}
select decided.name, pg_notify('lily_tags', %(tenant)s), pg_notify('lily_applied', '') from decided
