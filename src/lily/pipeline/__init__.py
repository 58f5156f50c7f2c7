"""The pipeline: Spark Structured Streaming queries that carry the log into the stores. One file a query."""
