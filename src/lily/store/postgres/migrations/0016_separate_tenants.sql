-- Row-level security of tables with rows of tenants, for the migrations from here on: the API sees the rows of its tenant,
-- as far as it has privileges; the worker sees all.
create function separate_tenants(variadic tables regclass[]) returns void
language plpgsql volatile as $$
declare
  guarded regclass;
begin
  foreach guarded in array tables loop
    execute format($sql$
      alter table %1$s enable row level security, force row level security;
      create policy one_tenant on %1$s to lily_api using (tenant_id = tenant()) with check (tenant_id = tenant());
      create policy every_tenant on %1$s to lily_pipeline using (true) with check (true);
      create policy administration on %1$s to current_user using (true) with check (true);
    $sql$, guarded);
  end loop;
end
$$;
revoke all on function separate_tenants(regclass[]) from public;
