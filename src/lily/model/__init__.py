"""Lily's data model: assets, layers, edges, events, clocks, ids and errors. It imports no engine."""
