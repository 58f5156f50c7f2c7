-- Defines the two legal tags for every new tenant.
create or replace function define_legal_tags() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into tags (tenant_id, key, name, propagates, stopped_by_masking)
  values (new.id, 'pii', 'PII', true, true), (new.id, 'gdpr', 'GDPR', true, false);
  return new;
end
$$;

create or replace trigger legal_tags after insert on tenants for each row execute function define_legal_tags();
