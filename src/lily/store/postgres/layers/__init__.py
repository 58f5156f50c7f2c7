"""Fragments of SQL that every table with layers shares."""
