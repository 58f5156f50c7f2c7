-- The changes of assets that enabled subscriptions name, one row per tenant that has such subscriptions.
select tenant_id, changes from subscribed_tenants where changes <> '{}'
