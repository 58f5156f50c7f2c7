"""Removes clauses that sqlglot does not parse and that do not change where data flows."""

from collections.abc import Callable
from dataclasses import replace

from sqlglot.tokenizer_core import Token, TokenType

from lily.intake.sql.script.piece import Piece
from lily.intake.sql.script.teradata import without_attributes

Rewrite = Callable[[Piece], Piece]
_COMPOUND = frozenset("+-*/%&|^")


def rewritten(piece: Piece) -> Piece:
    for rewrite in _REWRITES.get(piece.words[0], ()):
        piece = rewrite(piece)
    return piece


def creates_rows(piece: Piece) -> bool:
    """Whether it is `create table … as` or `create view … as`."""
    return piece.words[0] == "CREATE" and bool({"TABLE", "VIEW"} & set(piece.words[:8])) and "AS" in piece.words


def query_start(piece: Piece) -> int | None:
    """Where the query of a CREATE begins."""
    depth, words = 0, piece.words
    for at in range(2, len(words) - 1):
        depth += {"(": 1, ")": -1}.get(words[at], 0)
        if depth == 0 and words[at] == "AS" and words[at + 1] in {"SELECT", "WITH", "("}:
            return at + 1
    return None


def simplified(piece: Piece, query: int) -> Piece:
    """`create table x <options> as select …` without the options: for statements that could not be parsed."""
    words = piece.words
    kind = next(at for at, word in enumerate(words) if word in {"TABLE", "VIEW"})
    start = kind + 4 if words[kind + 1 : kind + 4] == ["IF", "NOT", "EXISTS"] else kind + 1
    end = start + 1
    while words[end : end + 1] == ["."]:
        end += 2
    kept = [0, *(at for at, word in enumerate(words[:kind]) if word in {"TEMP", "TEMPORARY"}), kind]
    return _only(piece, [*kept, *range(start, end), query - 1, *range(query, len(words))])


def _without_schema_evolution(piece: Piece) -> Piece:
    """Databricks: `merge with schema evolution into …`."""
    return piece if piece.words[1:4] != ["WITH", "SCHEMA", "EVOLUTION"] else _without(piece, 1, 4)


def _without_delete(piece: Piece) -> Piece:
    """Oracle: `when matched then update set … delete where …`."""
    for at in range(1, len(piece.words) - 1):
        if piece.words[at : at + 2] == ["DELETE", "WHERE"] and piece.words[at - 1] != "THEN":
            end = piece.words.index("WHEN", at) if "WHEN" in piece.words[at:] else len(piece.words)
            return _without(piece, at, end)
    return piece


def _without_format(piece: Piece) -> Piece:
    """Spark: `insert overwrite directory '/x' using parquet options (…) select …`."""
    if "DIRECTORY" not in piece.words[:4] or "USING" not in piece.words:
        return piece
    start = piece.words.index("USING")
    ends = [at for at in range(start, len(piece.words)) if piece.words[at] in {"SELECT", "WITH", "FROM"}]
    return _without(piece, start, ends[0]) if ends else piece


def _without_hint(piece: Piece) -> Piece:
    """T-SQL: `insert into t with (tablock) (a, b) select …`."""
    for at in range(2, min(len(piece.words) - 2, 12)):
        if piece.words[at : at + 2] == ["WITH", "("] and ")" in piece.words[at:]:
            return _without(piece, at, piece.words.index(")", at) + 1)
    return piece


def _without_strict(piece: Piece) -> Piece:
    """PL/pgSQL: `select a into strict v from t`."""
    for at in range(1, len(piece.words) - 1):
        if piece.words[at : at + 2] == ["INTO", "STRICT"]:
            return _without(piece, at + 1, at + 2)
    return piece


def _without(piece: Piece, start: int, end: int) -> Piece:
    return _only(piece, [*range(start), *range(end, len(piece.tokens))])


def _only(piece: Piece, kept: list[int]) -> Piece:
    return replace(piece, tokens=[piece.tokens[at] for at in kept], words=[piece.words[at] for at in kept])


def _as_insert(piece: Piece) -> Piece:
    """MySQL and SQLite: `replace into t …`."""
    if piece.words[1:2] != ["INTO"]:
        return piece
    first = piece.tokens[0]
    token = Token(TokenType.INSERT, "INSERT", first.line, first.col, first.start, first.end)
    return replace(piece, tokens=[token, *piece.tokens[1:]], words=["INSERT", *piece.words[1:]])


def _as_load(piece: Piece) -> Piece:
    """MySQL: `load data infile '/x' into table t …`, as Hive writes it."""
    words = piece.words
    if "INFILE" not in words or "INTO" not in words:
        return piece
    at, into = words.index("INFILE"), words.index("INTO")
    end = into + 3
    while words[end : end + 1] == ["."]:
        end += 2
    if at > into or end > len(words):
        return piece
    found = piece.tokens[at]
    token = Token(TokenType.VAR, "INPATH", found.line, found.col, found.start, found.end)
    named = replace(piece, tokens=[*piece.tokens[:at], token, *piece.tokens[at + 1 :]])
    return _only(named, [*range(at + 2), *range(into, end)])


def _without_snapshot(piece: Piece) -> Piece:
    """BigQuery: `create snapshot table x clone y`."""
    words = piece.words
    return _without(piece, words.index("SNAPSHOT"), words.index("SNAPSHOT") + 1) if "SNAPSHOT" in words[:4] else piece


def _as_plain_assignments(piece: Piece) -> Piece:
    """T-SQL: `set a += b` as `set a = b`: that a column is also derived from itself is not lineage."""
    kept = [at for at in range(len(piece.words)) if not _is_compound(piece, at)]
    return piece if len(kept) == len(piece.words) else _only(piece, kept)


def _is_compound(piece: Piece, at: int) -> bool:
    """An operator directly before `=`, as in `+=`."""
    if piece.words[at] not in _COMPOUND or piece.words[at + 1 : at + 2] != ["="]:
        return False
    return piece.tokens[at + 1].start == piece.tokens[at].end + 1


_REWRITES: dict[str, tuple[Rewrite, ...]] = {
    "MERGE": (_without_schema_evolution, _without_delete, _as_plain_assignments),
    "UPDATE": (_as_plain_assignments,),
    "WITH": (_as_plain_assignments, without_attributes),
    "SELECT": (_as_plain_assignments, _without_strict, without_attributes),
    "CREATE": (_without_snapshot, without_attributes),
    "INSERT": (_without_format, _without_hint, without_attributes),
    "LOAD": (_as_load,),
    "REPLACE": (_as_insert, without_attributes),
}
