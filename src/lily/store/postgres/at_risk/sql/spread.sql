-- Marks and clears what changes around these incidents, edges and moved assets, and queues the announcements: up to a
-- thousand assets each, `own` being those that the incident itself concerns. Returns how many assets came under risk and
-- how many are no longer at risk.
with changed as materialized (
  select * from spread_risk(
    %(tenant)s, %(incidents)s::uuid[], %(from)s::uuid[], %(to)s::uuid[], %(moved)s::uuid[],
    %(again)s::uuid[])
),
batch as (
  insert into batches (topic) select null where exists (select from changed) returning id
),
pages as (
  select incident_id, came,
         jsonb_agg(jsonb_build_array(id, entity_type, qualified_name) order by id) as assets,
         coalesce(jsonb_agg(id order by id) filter (where own), '[]') as own
  from (
    select c.incident_id, c.came, c.own, c.asset_id as id, coalesce(a.entity_type, g.entity_type) as entity_type,
           coalesce(a.qualified_name, g.qualified_name) as qualified_name,
           (row_number() over (partition by c.incident_id, c.came order by c.asset_id) - 1) / 1000 as page
    from changed c
    left join assets a on a.tenant_id = %(tenant)s and a.id = c.asset_id
    left join graph_nodes g on g.id = c.asset_id and g.tenant_id = %(tenant)s
  ) c
  group by incident_id, came, page
),
announced as (
  insert into announcements (batch_id, tenant_id, body)
  select batch.id, %(tenant)s, jsonb_build_object(
           'change', case when p.came then 'at_risk' else 'clear' end,
           'root', p.incident_id,
           'incident', jsonb_build_object(
             'incident_id', p.incident_id, 'source', i.source, 'external_id', i.external_id, 'severity', i.severity,
             'state', i.state, 'title', i.title, 'url', i.url, 'kind', i.kind, 'previous_state', null),
           'assets', p.assets, 'own', p.own)
  from pages p
  cross join batch
  left join incidents i on i.tenant_id = %(tenant)s and i.incident_id = p.incident_id
)
select count(*) filter (where came), count(*) filter (where not came) from changed
