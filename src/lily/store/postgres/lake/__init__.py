"""What PostgreSQL records about the lake: its commits, its freshness, and where its tables are."""
