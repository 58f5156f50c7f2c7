"""The quality query: counts usage events per asset and day in PostgreSQL, and judges the assets."""
