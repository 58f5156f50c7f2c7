-- Unless it was changed meanwhile: then it is judged again.
update quality_policies set judged_at = %(at)s
where tenant_id = %(tenant)s and key = %(policy)s and updated_at = %(updated_at)s
