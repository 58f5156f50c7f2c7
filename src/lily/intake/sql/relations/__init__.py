"""What a query yields: its columns, each with the columns that it comes from, as far as the tables are known."""
