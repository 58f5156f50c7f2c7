"""The lineage graph as it is read: nodes and traversal."""
