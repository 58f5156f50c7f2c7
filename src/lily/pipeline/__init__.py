"""The pipeline: Spark Structured Streaming queries that write the log's events to the stores."""
