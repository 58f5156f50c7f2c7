-- The lake: its catalogue, how far it has come, and the columns that turn from cold to hot.

-- Iceberg's JDBC catalog (schema version V1) keeps these two tables; named here so that they have an owner and grants.
create table iceberg_tables (
  catalog_name               varchar(255) not null,
  table_namespace            varchar(255) not null,
  table_name                 varchar(255) not null,
  metadata_location          varchar(1000),
  previous_metadata_location varchar(1000),
  iceberg_type               varchar(5),
  primary key (catalog_name, table_namespace, table_name)
);
create table iceberg_namespace_properties (
  catalog_name   varchar(255) not null,
  namespace      varchar(255) not null,
  property_key   varchar(255),
  property_value varchar(1000),
  primary key (catalog_name, namespace, property_key)
);

-- One row a commit of the lake query: from when on what it brought could be read.
create table lake_batches (
  number       bigint primary key,
  committed_at timestamptz not null default clock_timestamp(),
  events       bigint not null,
  positions    jsonb not null  -- {topic: {partition: next offset}}
);

-- Everything that the log took until then is in the lake. One row.
create table lake_progress (
  one         boolean primary key default true check (one),
  fresh_as_of timestamptz not null,
  batch       bigint not null
);

-- An asset that may have a past in the lake which is not here yet: the lake query carries it over, and until then a
-- reader joins the two.
alter table assets add column awaits_lake boolean not null default false;
create index assets_awaiting_lake on assets (tenant_id, id) where awaits_lake;

grant select, insert, update, delete on iceberg_tables, iceberg_namespace_properties to lily_pipeline;
grant select, insert, update on lake_batches, lake_progress to lily_pipeline;
grant select on iceberg_tables, lake_batches, lake_progress to lily_api;
