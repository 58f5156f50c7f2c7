"""Lineage: edges and the graph, lineage from SQL, and OpenLineage events."""
