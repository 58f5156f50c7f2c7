-- Keeps `access_versions.named_tags` equal to the tags that the tenant's policies name.
--
-- A trigger, and not a part of the statement that changes a policy: a statement that waits for the row of
-- `access_versions` has a snapshot from before the wait, in which a policy that was created meanwhile is missing. For the
-- same reason the row is locked in a statement of its own.
create or replace function tags_named(names text[]) returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, public, pg_temp as $$
  select array(select distinct substr(n.name, 3) from unnest(names) as n (name) where n.name ^@ 't:' order by 1)
$$;

create or replace function keep_named_tags() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  changed_tenant text := case when tg_op = 'DELETE' then old.tenant_id else new.tenant_id end;
  before         text[] := case when tg_op = 'INSERT' then '{}' else tags_named(old.names) end;
  after          text[] := case when tg_op = 'DELETE' then '{}' else tags_named(new.names) end;
begin
  if before is distinct from after then
    perform from access_versions v where v.tenant_id = changed_tenant for update;
    update access_versions v set named_tags = array(
      select distinct tag from policies p cross join unnest(tags_named(p.names)) as t (tag)
      where p.tenant_id = changed_tenant
      order by 1
    )
    where v.tenant_id = changed_tenant;
  end if;
  return null;
end
$$;

create or replace trigger named_tags after insert or update or delete on policies
for each row execute function keep_named_tags();
