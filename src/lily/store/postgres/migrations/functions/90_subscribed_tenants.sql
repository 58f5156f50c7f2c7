-- Keeps `subscribed_tenants`: the version increases with every change of what decides who is notified. A deletion adds no
-- row: with the tenant itself, its own has been deleted already.
create or replace function note_subscribed_tenants() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if tg_op <> 'DELETE' then
    insert into subscribed_tenants (tenant_id, version) select distinct tenant_id, 0 from changed on conflict do nothing;
  end if;
  update subscribed_tenants t
  set version = t.version + 1,
      changes = coalesce((select array_agg(distinct one order by one) from subscriptions s, unnest(s.changes) as one
                          where s.tenant_id = t.tenant_id and s.is_enabled), '{}')
  where t.tenant_id in (select tenant_id from changed);
  return null;
end
$$;
revoke all on function note_subscribed_tenants() from public;

do $$
declare
  noted text;
begin
  foreach noted in array array['notification_channels', 'subscriptions', 'mentions', 'notification_mutes'] loop
    execute format($sql$
      create or replace trigger inserted_subscribed after insert on %1$I
      referencing new table as changed for each statement execute function note_subscribed_tenants();
      create or replace trigger updated_subscribed after update on %1$I
      referencing new table as changed for each statement execute function note_subscribed_tenants();
      create or replace trigger deleted_subscribed after delete on %1$I
      referencing old table as changed for each statement execute function note_subscribed_tenants();
    $sql$, noted);
  end loop;
end
$$;
