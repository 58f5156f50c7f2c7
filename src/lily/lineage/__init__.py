"""The rules of propagation, independent of any engine: which tags and attribute values reach which asset, and why."""
