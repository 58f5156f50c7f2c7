"""The lake query: writes the events of both lanes to Iceberg, and maintains its tables."""
