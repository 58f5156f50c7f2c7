"""`snowflake`, `databricks` and `bigquery`: scripts that bring a warehouse in line with the decisions.

Lily does not connect to these: the steps of a plan are the statements of a script, which a person or a pipeline runs.
decisions → tables (what each subject sees) → statements in the warehouse's dialect. One module per warehouse; the
others are what they share. docs/decisions/0029-warehouses-get-a-script.md has the reasons.
"""
