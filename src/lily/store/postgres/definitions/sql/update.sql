-- Updates the given fields of a definition. record_decision.sql records what `decided` returns.
with decided as (
  update {table} as t set
{own}
    direction = coalesce(%(changes)s ->> 'direction', t.direction),
    max_depth = case when %(changes)s ? 'max_depth' then (%(changes)s ->> 'max_depth')::integer else t.max_depth end,
    edge_types = case
      when not %(changes)s ? 'edge_types' then t.edge_types
      when %(changes)s -> 'edge_types' = 'null' then null
      else array(select jsonb_array_elements_text(%(changes)s -> 'edge_types'))
    end,
    updated_at = now()
  where t.tenant_id = %(tenant)s and t.key = %(key)s
  returning t.key as name, {was} as before, {shown} as after
)
