insert into parked_tenants (reaction, tenant_id) values (%s, %s) on conflict do nothing
