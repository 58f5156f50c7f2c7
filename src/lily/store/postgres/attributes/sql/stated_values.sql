-- The name of each asset, whether it is deleted, and the values of some attributes in its source and user layers. Assets
-- that neither PostgreSQL nor the lake has are left out.
select n.id::text, coalesce(a.qualified_name, g.qualified_name), coalesce(a.is_deleted, false), a.source_values, a.user_values
from unnest(%(ids)s::uuid[]) as n (id)
left join lateral (
  select s.qualified_name, s.is_deleted,
         (select jsonb_object_agg(key, s.source -> key) from unnest(%(attributes)s::text[]) as given (key)
          where s.source ? key) as source_values,
         (select jsonb_object_agg(key, s."user" -> key) from unnest(%(attributes)s::text[]) as given (key)
          where s."user" ? key) as user_values
  from assets s where s.tenant_id = %(tenant)s and s.id = n.id
  offset 0
) a on true
left join lateral (
  select d.qualified_name from graph_nodes d where d.id = n.id and d.tenant_id = %(tenant)s offset 0
) g on true
where coalesce(a.qualified_name, g.qualified_name) is not null
