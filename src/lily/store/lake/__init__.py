"""The lake: every event and every asset of both lanes, in Iceberg. Spark writes it, PyIceberg reads it."""
