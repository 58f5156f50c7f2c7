"""The lake query: both lanes into Iceberg, and the maintenance of its tables."""
