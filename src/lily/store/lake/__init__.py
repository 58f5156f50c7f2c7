"""The lake: Iceberg tables that hold every event, and the state of every asset."""
