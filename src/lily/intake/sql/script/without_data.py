"""Statements that move no rows between tables, whatever they are made of."""

from lily.intake.sql.script.piece import Piece, makes_table, redefines_view

_MOVES_NO_DATA = frozenset(
    [
        "ADD",
        "ALTER",
        "ANALYZE",
        "ATTACH",
        "CHECKPOINT",
        "CLUSTER",
        "COLLECT",
        "COMMENT",
        "DEALLOCATE",
        "DECLARE",
        "DENY",
        "DESC",
        "DESCRIBE",
        "DETACH",
        "DISCARD",
        "DROP",
        "EXPLAIN",
        "GRANT",
        "HELP",
        "INSTALL",
        "INVALIDATE",
        "KILL",
        "LIST",
        "LISTEN",
        "LOAD",
        "LOCK",
        "LS",
        "MSCK",
        "NOTIFY",
        "OPTIMIZE",
        "PREPARE",
        "PURGE",
        "PUT",
        "REFRESH",
        "REINDEX",
        "REMOVE",
        "REPAIR",
        "RESET",
        "REVOKE",
        "RM",
        "SET",
        "SHOW",
        "SYSTEM",
        "TRUNCATE",
        "UNCACHE",
        "UNDROP",
        "UNLOCK",
        "UNSET",
        "VACUUM",
    ]
)


def moves_no_data(piece: Piece) -> bool:
    if piece.words[0] == "CREATE":
        return not makes_table(piece)
    if redefines_view(piece) or (piece.words[:2] == ["ALTER", "TABLE"] and "SELECT" in piece.words):
        return False  # ClickHouse: `alter table t update a = (select …) where …`, `… modify query select …`
    return piece.words[0].split(" ")[0] in _MOVES_NO_DATA
