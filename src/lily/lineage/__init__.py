"""The meaning of propagation, apart from any engine: what reaches which asset, and why."""
