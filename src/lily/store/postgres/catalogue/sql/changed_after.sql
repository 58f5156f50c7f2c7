-- Whether an asset has changed since a time.
select exists (
  select from changes
  where tenant_id = %(tenant)s and asset_id = %(id)s::uuid and committed_at > %(time)s::timestamptz
) or exists (
  select from archived_changes h
  where h.tenant_id = %(tenant)s and h.asset_id = %(id)s::uuid and h.last_at > %(time)s::timestamptz
)
