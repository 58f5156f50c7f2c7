"""Reading the lineage graph: its nodes, and traversal."""
