"""Rotation of the master key: which rows are encrypted under it, and their re-encryption under a new one."""
