"""SQL fragments shared by the tables with layers."""
