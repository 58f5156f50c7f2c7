"""Splits a script into statements: also where semicolons are missing, and inside procedures, blocks and strings."""
