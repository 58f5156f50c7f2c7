-- Makes the open findings of these policies about these assets what the judgement found: closes those that it did not find
-- again, opens new ones, and queues a statement for each that is not silent.
with found as (
  select * from unnest(%(finding_ids)s::uuid[], %(policies)s::text[], %(assets)s::uuid[], %(causes)s::text[], %(types)s::text[],
                       %(severities)s::text[], %(titles)s::text[], %(silent)s::boolean[])
                as f (finding_id, policy, asset_id, cause, policy_type, severity, title, is_silent)
),
closed as (
  update quality_findings q set closed_at = clock_timestamp()
  where q.tenant_id = %(tenant)s and q.asset_id = any (%(judged)s::uuid[]) and q.policy = any (%(judged_by)s::text[])
    and q.closed_at is null
    -- NOT IN is hashed; NOT EXISTS would compare every pair, since PostgreSQL does not know how much was found.
    and (q.asset_id, q.policy, q.cause) not in (select f.asset_id, f.policy, f.cause from found f)
  returning q.finding_id, q.asset_id, q.policy_type, q.is_silent
),
opened as (
  insert into quality_findings as q (tenant_id, finding_id, policy, asset_id, cause, policy_type, severity, title, is_silent)
  select %(tenant)s, finding_id, policy, asset_id, cause, policy_type, severity, title, is_silent from found
  on conflict (asset_id, policy, cause, tenant_id) where closed_at is null do nothing
  returning q.finding_id, q.asset_id, q.policy_type, q.severity, q.title, q.is_silent
),
stated as (
  select jsonb_build_object('source', 'quality', 'external_id', finding_id, 'kind', policy_type, 'state', 'open',
                            'severity', severity, 'title', title, 'tables', '[]'::jsonb,
                            'assets', jsonb_build_array(asset_id), 'rank', 0) as body
  from opened where not is_silent
  union all
  select jsonb_build_object('source', 'quality', 'external_id', finding_id, 'kind', policy_type, 'state', 'resolved',
                            'tables', '[]'::jsonb, 'assets', jsonb_build_array(asset_id), 'rank', 1)
  from closed where not is_silent
),
batch as (
  insert into batches (topic) select null where exists (select from stated) returning id
),
queued as (
  insert into incident_statements (batch_id, tenant_id, body) select batch.id, %(tenant)s, stated.body from batch, stated
  returning 1
)
select (select count(*) from opened where not is_silent), (select count(*) from closed where not is_silent),
       (select count(*) from queued)
