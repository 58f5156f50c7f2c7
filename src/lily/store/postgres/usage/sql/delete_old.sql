-- Deletes counts, ids of events and closed findings that are older than they are kept.
with counts as (
  delete from usage_days where day < (now() at time zone 'UTC')::date - %(days)s::integer returning 1
),
ids as (
  delete from usage_event_ids where counted_at < now() - make_interval(days => %(id_days)s) returning 1
),
findings as (
  delete from quality_findings where closed_at < now() - make_interval(days => %(days)s) returning 1
)
select (select count(*) from counts) + (select count(*) from ids) + (select count(*) from findings)
