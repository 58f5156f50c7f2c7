update notification_channels set test = %(test)s where tenant_id = %(tenant)s and key = %(key)s
