-- Deletes new origins of tags that are no longer suppressed.
delete from new_origins n
where n.tenant_id = %(tenant)s
  and not exists (
    select from assets a where a.tenant_id = n.tenant_id and a.id = n.asset_id and n.tag = any (a.suppressed))
