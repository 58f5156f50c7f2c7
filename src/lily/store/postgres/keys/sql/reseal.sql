-- Unless a writer has replaced the row since it was read: then that is the newer one, and stays.
update {table} set wrapped_key = %(wrapped_key)s, sealed = %(sealed)s
where tenant_id = %(tenant)s and {key} = %(key)s and wrapped_key = %(before)s
