-- The assets of all tenants, with what propagation depends on. `cut`: an authorised statement deleted the asset, and it passes nothing on.
select a.tenant_id as tenant, a.id, a.parent::uuid as parent, a.stated, a.suppressed,
       a.is_cut and t.on_delete = 'cut' as cut
from assets a join tenants t on t.id = a.tenant_id
