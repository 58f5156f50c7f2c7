"""Lineage from SQL text: which tables and columns a script derives from which.

The text is anybody's, and reading it costs whatever it wants to cost. So `python -m lily.intake.sql` reads it in a
process of its own, which can be limited and ended; `lily.intake.sql.questions` is what the two say to each other.
"""
