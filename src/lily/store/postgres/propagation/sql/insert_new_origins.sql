insert into new_origins (tenant_id, asset_id, tag, origin)
select %(tenant)s, %(asset)s, %(tag)s, origin from unnest(%(origins)s::uuid[]) as found (origin)
on conflict do nothing
returning origin::text
