"""Turns foreign shapes (OpenLineage, SQL) into the statements of the model: pure, and knows no engine."""
