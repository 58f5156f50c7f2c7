-- The names below which the bulk lane has stated columns: what is stated there as something else may be such a column, which
-- only the lake has (docs/decisions/0054).
create table lake_parents (
  tenant_id text not null,
  place     text collate "C" not null,  -- the first 16 bits of the ids of everything named directly below it
  id        uuid not null,
  primary key (tenant_id, place, id)
);
select separate_tenants('lake_parents');
grant select, insert, delete on lake_parents to lily_pipeline;

-- What the lake has of existing tenants is not known until the lake query has listed it: any name may be below one of these.
insert into lake_parents (tenant_id, place, id)
select id, '*', '00000000-0000-0000-0000-000000000000' from tenants where exists (select from lake_batches);
