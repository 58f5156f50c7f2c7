update propagation_runs set about = %s where tenant_id = %s
