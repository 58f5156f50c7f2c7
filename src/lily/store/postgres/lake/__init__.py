"""What PostgreSQL stores about the lake: its commits, its freshness and the locations of its tables."""
