"""The database and the schema of names that have none: from the request, then from USE and SET search_path."""

from sqlglot import exp

from lily.intake.sql.relations.names import name_parts
from lily.intake.sql.script.piece import Piece

_IGNORED = frozenset({"WAREHOUSE", "ROLE", "SECONDARY"})
_DATABASE_FIRST = frozenset({"fabric", "snowflake", "tsql"})


class Defaults:
    def __init__(self, database: str | None, schema: str | None, dialect: str) -> None:
        self.database, self.schema, self._dialect = database, schema, dialect

    def apply(self, expression: exp.Expr | None, piece: Piece) -> bool:
        """Whether the statement sets a default."""
        if isinstance(expression, exp.Use):
            self._use(expression)
            return True
        if piece.words[:2] == ["SET", "SEARCH_PATH"] and len(piece.tokens) > 3:
            self.schema = piece.tokens[3].text.lower()
            return True
        return False

    def _use(self, use: exp.Use) -> None:
        given = use.args.get("kind")  # sqlglot has text for `USE SECONDARY ROLES`, else a variable
        kind = (given.name if isinstance(given, exp.Expr) else str(given or "")).upper()
        if kind.split(" ")[0] in _IGNORED or not isinstance(use.this, exp.Table):
            return
        parts = name_parts(use.this)
        if not parts:
            return
        if len(parts) > 1:
            self.database, self.schema = parts[-2:]
        elif kind == "CATALOG" or (kind in {"", "DATABASE"} and self._dialect in _DATABASE_FIRST):
            self.database = parts[0]
            if self._dialect == "snowflake":
                self.schema = "public"  # which every database has
        else:
            self.schema = parts[0]
