-- The lake has told what it knew of these ends of edges; answers those whose parent is another one now, or whose name has
-- become known. Of what has come to PostgreSQL meanwhile, the asset itself tells the parent.
with told as (
  update graph_nodes g
  set parent = case
        when exists (select from assets a where a.tenant_id = t.tenant_id and a.id = t.id) then g.parent
        when t.parent = '' then null
        else t.parent::uuid
      end,
      qualified_name = coalesce(nullif(t.qualified_name, ''), g.qualified_name),
      awaits_lake = false
  from unnest(%(tenants)s::text[], %(ids)s::uuid[], %(parents)s::text[], %(names)s::text[])
       as t (tenant_id, id, parent, qualified_name)
  where g.id = t.id and g.tenant_id = t.tenant_id
  returning g.tenant_id, g.id::text as id,
            old.parent is distinct from new.parent or old.qualified_name is distinct from new.qualified_name as moved
)
select tenant_id, id from told where moved
