-- An asset is looked up by its tenant and id. While statistics say that there are hardly any assets, every index that begins
-- with the tenant seems as good for that as the primary key. This one was the last that a look-up could use: it reads a
-- tenant's whole index for each asset (docs/decisions/0075). Lists of a type state one, so it still serves them.
drop index assets_by_type;
create index assets_by_type on assets (tenant_id, entity_type, id) where entity_type is not null;
