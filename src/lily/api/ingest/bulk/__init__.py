"""Bulk bodies: split into rows as they stream in, appended as the log has room, never held."""
