"""Statements that sqlglot does not parse: RENAME TABLE, EXCHANGE TABLES, UNLOAD, sp_rename, dynamic SQL."""

import re

from sqlglot import exp

from lily.intake.sql.relations.scopes import Session
from lily.intake.sql.script.piece import STRINGS, Piece
from lily.intake.sql.statements.partitions import connect_part
from lily.intake.sql.statements.renames import rename, swap
from lily.intake.sql.statements.writer import Writer

_NAME = r'((?:[\w$#]+|"[^"]+"|`[^`]+`|\[[^\]]+\])(?:\s*\.\s*(?:[\w$#]+|"[^"]+"|`[^`]+`|\[[^\]]+\]))*)'
_RENAMES = re.compile(rf"{_NAME}\s+to\s+{_NAME}", re.IGNORECASE)
_EXCHANGE = re.compile(rf"exchange\s+tables\s+{_NAME}\s+and\s+{_NAME}", re.IGNORECASE)
_STREAM = re.compile(
    rf"create\b.*?\bstream\s+(?:if\s+not\s+exists\s+)?{_NAME}\b.*?\bon\s+(?:table|view)\s+{_NAME}",
    re.IGNORECASE | re.DOTALL,
)
_BULK = re.compile(rf"bulk\s+insert\s+{_NAME}\s+from\s+'([^']+)'", re.IGNORECASE)
_UNLOAD = re.compile(r"\bto\s+'([^']+)'", re.IGNORECASE)
_MOVES = [
    (re.compile(rf"alter\s+table\s+{_NAME}\s+{clause}\s+{_NAME}", re.IGNORECASE | re.DOTALL), is_reversed)
    for clause, is_reversed in (
        (r"append\s+from", True),  # Redshift
        (r"switch\b.*?\bto", False),  # T-SQL
        (r"exchange\s+partition\b.*?\bwith\s+table", True),  # Hive, Oracle, MySQL
        (r"(?:attach|replace)\s+partition\b.*?\bfrom", True),  # ClickHouse
        (r"move\s+partition\b.*?\bto\s+table", False),  # ClickHouse
    )
]
_PARTS = [
    (re.compile(rf"alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?{_NAME}\s+{clause}\s+{_NAME}", re.IGNORECASE), routed)
    for clause, routed in ((r"attach\s+partition", True), (r"inherit", False))
]
_QUOTES = re.compile(r'["`\[\]\s]')


def renamed(piece: Piece, session: Session, writer: Writer) -> bool:
    """Applies a statement that renames tables. False if the piece is something else."""
    source = piece.plain
    if (found := _EXCHANGE.match(source)) is not None:
        swap(_key(found[1], session), _key(found[2], session), writer)
        return True
    if piece.words[:2] == ["RENAME", "TABLE"]:
        for old, new in _RENAMES.findall(source[len("rename") :].strip()[len("table") :]):
            rename(_key(old, session), _key(new, session), writer)
        return True
    if piece.words[0] in {"EXEC", "EXECUTE"} and "SP_RENAME" in piece.words:
        names = [token.text for token in piece.tokens if token.token_type in STRINGS]
        if len(names) > 1:
            old = _key(names[0], session)
            rename(old, ".".join([*old.split(".")[:-1], names[1].lower()]), writer)
        return True
    return False


def moved(piece: Piece, session: Session) -> tuple[str, str] | None:
    """The tables of a statement that moves rows, or partitions, of one table to another: source and target."""
    if piece.words[:2] != ["ALTER", "TABLE"]:
        return None
    for pattern, is_reversed in _MOVES:
        found = pattern.match(piece.plain)
        if found is not None:
            one, other = (_key(found[at], session) for at in (1, 2))
            return (other, one) if is_reversed else (one, other)
    return None


def parted(piece: Piece, session: Session, writer: Writer) -> bool:
    """Applies PostgreSQL's `attach partition` and `inherit`. False if the piece is something else."""
    if piece.words[:2] != ["ALTER", "TABLE"] or not {"ATTACH", "INHERIT"} & set(piece.words):
        return False
    for pattern, routed in _PARTS:
        found = pattern.match(piece.plain)
        if found is not None:
            one, other = (_key(found[at], session) for at in (1, 2))
            part, whole = (other, one) if routed else (one, other)
            connect_part(part, whole, writer, routed=routed)
            return True
    return False


def named_parts(piece: Piece, session: Session) -> list[str]:
    """The tables of such a statement."""
    if piece.words[:2] != ["ALTER", "TABLE"]:
        return []
    matches = (pattern.match(piece.plain) for pattern, _ in _PARTS)
    return [_key(found[at], session) for found in matches if found is not None for at in (1, 2)]


def named_renames(piece: Piece, session: Session) -> list[str]:
    """The tables of RENAME TABLE, EXCHANGE TABLES and sp_rename that have content before the statement."""
    if (found := _EXCHANGE.match(piece.plain)) is not None:
        return [_key(found[1], session), _key(found[2], session)]
    if piece.words[:2] == ["RENAME", "TABLE"]:
        pairs = _RENAMES.findall(piece.plain[len("rename") :].strip()[len("table") :])
        return [_key(old, session) for old, _ in pairs]
    if piece.words[0] in {"EXEC", "EXECUTE"} and "SP_RENAME" in piece.words:
        names = [token.text for token in piece.tokens if token.token_type in STRINGS]
        return [_key(names[0], session)] if len(names) > 1 else []
    return []


def loaded(piece: Piece, session: Session) -> tuple[str, str] | None:
    """The path and the table of T-SQL's `bulk insert t from 'path'`."""
    found = _BULK.match(piece.plain)
    return None if found is None else (found[2], _key(found[1], session))


def stream(piece: Piece, session: Session) -> tuple[str, str] | None:
    """The stream and the table of Snowflake's `create stream s on table t`."""
    found = _STREAM.match(piece.plain) if piece.words[0] == "CREATE" and "STREAM" in piece.words[:4] else None
    return None if found is None else (_key(found[1], session), _key(found[2], session))


def unloaded(piece: Piece) -> tuple[str, str] | None:
    """The query and the path of Redshift's `UNLOAD ('select …') TO 's3://…'`."""
    if piece.words[0] != "UNLOAD":
        return None
    query = next((token.text for token in piece.tokens if token.token_type in STRINGS), None)
    path = _UNLOAD.search(piece.plain)
    return None if query is None or path is None else (query, path[1])


def dynamic(piece: Piece) -> bool:
    return piece.words[0] in {"EXEC", "EXECUTE"} and (
        "IMMEDIATE" in piece.words or "SP_EXECUTESQL" in piece.words or piece.words[1:2] in (["("], ["FORMAT"], [""])
    )


def _key(name: str, session: Session) -> str:
    parts = [_QUOTES.sub("", part) for part in name.split(".")]
    table = exp.Table(**dict(zip(("this", "db", "catalog"), map(exp.to_identifier, reversed(parts)), strict=False)))
    return session.key(table)
