"""The refresher in PostgreSQL: schedules of data sources, and the runs in which scrapers read them again."""
