-- The metadata location of each table of the lake, and the time up to which the lake is complete. Shared by all tenants.
select
  (select coalesce(jsonb_object_agg(table_name, metadata_location), '{}')
   from iceberg_tables
   where catalog_name = %(catalog)s and table_namespace = %(namespace)s and metadata_location is not null),
  (select fresh_as_of from lake_progress)
