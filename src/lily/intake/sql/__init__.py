"""Table and column lineage from SQL text.

The text is untrusted, and parsing it may take any amount of time and memory. So `python -m lily.intake.sql` analyzes it
in a separate process, which can be limited and killed; `lily.intake.sql.protocol` defines its requests and results.
"""
