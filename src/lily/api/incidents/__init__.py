"""Incidents as a caller may see and change them."""
