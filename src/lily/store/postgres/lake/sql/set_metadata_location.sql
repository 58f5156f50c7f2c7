-- As Iceberg's JDBC catalog commits: only if nothing else has.
update iceberg_tables set metadata_location = %(new)s, previous_metadata_location = null
where catalog_name = %(catalog)s and table_namespace = %(namespace)s and table_name = %(table)s
  and metadata_location = %(old)s
