"""Bulk bodies: split into rows while they are received, and appended as the log has room. No body is held in memory."""
