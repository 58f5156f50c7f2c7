-- Adds queries to their days, and to what is known of their tenants. Rows that another transaction may add to as well are
-- locked in one order.
with added as (
  select tenant_id, asset_id, day, queries
  from unnest(%(tenants)s::text[], %(assets)s::uuid[], %(days)s::date[], %(queries)s::bigint[])
       as c (tenant_id, asset_id, day, queries)
),
counted as (
  insert into usage_days as u (tenant_id, asset_id, day, queries)
  select tenant_id, asset_id, day, queries from added order by asset_id, day
  on conflict (asset_id, day, tenant_id) do update set queries = u.queries + excluded.queries
)
insert into usage_reports as r (tenant_id, first_day, last_day)
select tenant_id, min(day), max(day) from added group by tenant_id order by tenant_id
on conflict (tenant_id) do update
set first_day = least(r.first_day, excluded.first_day), last_day = greatest(r.last_day, excluded.last_day)
where excluded.first_day < r.first_day or excluded.last_day > r.last_day
