-- Queues decisions about what is pending for publication, and audits them.
with decided as (
  select d.name, d.before, d.before || jsonb_build_object('decision', %(done)s::text) as after
  from unnest(%(names)s::text[], %(befores)s::jsonb[]) as d (name, before)
),
batch as (
  insert into batches (published_at) select null from decided limit 1 returning id
),
{recorded}
select pg_notify('lily_applied', '')
