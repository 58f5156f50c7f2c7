"""Converts foreign formats (OpenLineage, SQL) to the model's statements and events. It imports no engine."""
