"""The stores: PostgreSQL for serving, Iceberg for everything, and the reads that combine both."""
