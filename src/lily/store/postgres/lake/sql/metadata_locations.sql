-- The metadata file of each table of the lake. Shared by all tenants.
select table_name, metadata_location from iceberg_tables
where catalog_name = %(catalog)s and table_namespace = %(namespace)s and metadata_location is not null
