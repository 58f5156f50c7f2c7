"""The meaning of Lily: assets, layers, events, clocks, ids, errors. Pure; knows no engine."""
