not exists (
  select from derived_tags d
  where d.tenant_id = %(tenant)s and d.asset_id = assets.id and d.tag = any (%(hidden_tags)s::text[])
    and d.tag = any (%(tags)s::text[]) and d.kind = 'propagated' and d.tag <> all (assets.suppressed)
)
