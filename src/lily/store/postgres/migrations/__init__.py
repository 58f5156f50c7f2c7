"""The schema: numbered migrations, each applied once and never changed, and repeatable scripts in `functions/`.

To change a table, add the next number; to change a function, edit its script. docs/decisions/0016 gives the reasons.
"""

from lily.store.postgres.migrations.runner import migrate

__all__ = ["migrate"]
