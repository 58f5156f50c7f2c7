"""Removes clauses that sqlglot does not parse and that do not change where data flows."""

from collections.abc import Callable
from dataclasses import replace

from sqlglot.tokenizer_core import Token, TokenType

from lily.intake.sql.script.piece import Piece, makes_table, redefines_view
from lily.intake.sql.script.teradata import without_attributes

Rewrite = Callable[[Piece], Piece]
_SEGMENTED = (["SEGMENTED", "BY"], ["UNSEGMENTED", "ALL"], ["UNSEGMENTED", "NODE"])
_SELECT_FILE = (
    (TokenType.SELECT, "SELECT"),
    (TokenType.STAR, "*"),
    (TokenType.FROM, "FROM"),
    (TokenType.VAR, "FILE"),
    (TokenType.L_PAREN, "("),
)
_LEVELS = frozenset({"UR", "CS", "RS", "RR"})
_BEFORE_VALUE = frozenset(
    {"(", ",", "=", "<", ">", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "||", "SELECT", "WHERE", "AND", "OR", "NOT"}
    | {"THEN", "ELSE", "WHEN", "LIKE", "BETWEEN", "IN", "ON", "OFFSET", "LIMIT"}
)
_COMPOUND = frozenset("+-*/%&|^")


def rewritten(piece: Piece) -> Piece:
    for rewrite in _REWRITES.get(piece.words[0], ()):
        piece = rewrite(piece)
    return piece


def creates_rows(piece: Piece) -> bool:
    """Whether it is `create table … as` or `create view … as`."""
    return piece.words[0] == "CREATE" and makes_table(piece) and "AS" in piece.words


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
    """Oracle: `when matched then update set … where … delete where …` with one condition: both decide about rows."""
    words = piece.words
    for at in range(1, len(words) - 1):
        if words[at : at + 2] == ["DELETE", "WHERE"] and words[at - 1] != "THEN":
            then = max(place for place in range(at) if words[place] == "THEN") if "THEN" in words[:at] else 0
            if "WHERE" not in words[then:at]:
                return _without(piece, at, at + 1)
            both = _replaced(piece, at, TokenType.OR, "OR")
            return _without(both, at + 1, at + 2)
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


def _as_insert_of_changes(piece: Piece) -> Piece:
    """Databricks: `apply changes into t from stream(s) keys (id) …` as `insert into t select * from stream(s)`."""
    words = piece.words
    if words[:3] != ["APPLY", "CHANGES", "INTO"] or "FROM" not in words or "KEYS" not in words:
        return piece
    at, end = words.index("FROM"), words.index("KEYS")
    old = piece.tokens[at]
    added = [(TokenType.SELECT, "SELECT"), (TokenType.STAR, "*")]
    tokens = [Token(kind, word, old.line, old.col, old.start, old.end) for kind, word in added]
    insert = _replaced(piece, 0, TokenType.INSERT, "INSERT")
    kept = [insert.tokens[0], *piece.tokens[2:at], *tokens, *piece.tokens[at:end]]
    return replace(piece, tokens=kept, words=["INSERT", *words[2:at], "SELECT", "*", *words[at:end]])


def _without_infile(piece: Piece) -> Piece:
    """ClickHouse: `insert into t from infile '/x.csv' format CSV` as `… select * from file ('/x.csv')`."""
    words, tokens = piece.words, piece.tokens
    at = next((at for at in range(2, len(words) - 2) if words[at : at + 2] == ["FROM", "INFILE"]), None)
    if at is None or tokens[at + 2].token_type is not TokenType.STRING:
        return piece
    old = tokens[at]
    added = [Token(kind, word, old.line, old.col, old.start, old.end) for kind, word in _SELECT_FILE]
    closing = Token(TokenType.R_PAREN, ")", old.line, old.col, old.start, old.end)
    read = [*tokens[:at], *added, tokens[at + 2], closing]
    return replace(piece, tokens=read, words=[*words[:at], *(word for _, word in _SELECT_FILE), words[at + 2], ")"])


def without_top(piece: Piece) -> Piece:
    """T-SQL: `delete top (10) percent from t`."""
    words = piece.words
    if words[1:3] == ["TOP", "("] and ")" in words:
        end = words.index(")") + 1
    elif words[1:2] == ["TOP"] and words[2:3] and words[2].isdigit():
        end = 3
    else:
        return piece
    return _without(piece, 1, end + 1 if words[end : end + 1] == ["PERCENT"] else end)


def _without_no_data(piece: Piece) -> Piece:
    """PostgreSQL: `create materialized view v as select … with no data`, which REFRESH fills later."""
    is_view = piece.words[1:3] == ["MATERIALIZED", "VIEW"]
    for words in (["WITH", "NO", "DATA"], ["WITH", "DATA"]) if is_view else ():
        if piece.words[-len(words) :] == words:
            return _without(piece, len(piece.words) - len(words), len(piece.words))
    return piece


def _without_statistics(piece: Piece) -> Piece:
    """Teradata: `create table t as (…) with data and stats`."""
    words = piece.words
    for at in range(3, len(words)):
        if words[at] in {"STATS", "STATISTICS"} and words[at - 1 - (words[at - 1] == "NO")] == "AND":
            return _without(piece, words.index("AND", at - 2), at + 1) if "DATA" in words[at - 4 : at] else piece
    return piece


def _as_create(piece: Piece) -> Piece:
    """`alter view v as select …` defines the view anew."""
    return _without_check_option(_replaced(piece, 0, TokenType.CREATE, "CREATE")) if redefines_view(piece) else piece


def _without_check_option(piece: Piece) -> Piece:
    """Of views: `with check option`, `with local check option`, Oracle's `with read only`."""
    words = piece.words
    for at in range(len(words) - 2, max(len(words) - 8, 2), -1):
        rest = [word for word in words[at + 1 : at + 4] if word not in {"CASCADED", "LOCAL"}]
        if words[at] == "WITH" and rest[:2] in (["CHECK", "OPTION"], ["READ", "ONLY"]):
            return _without(piece, at, len(words)) if makes_table(piece) else piece
    return piece


def _without_isolation(piece: Piece) -> Piece:
    """DB2: `insert into t select … with ur`."""
    words = piece.words
    return _without(piece, len(words) - 2, len(words)) if words[-2:-1] == ["WITH"] and words[-1] in _LEVELS else piece


def _with_row_insert(piece: Piece) -> Piece:
    """Redshift: `merge into t using s on … remove duplicates` as `… when not matched then insert row`."""
    if piece.words[-2:] != ["REMOVE", "DUPLICATES"]:
        return piece
    old, kinds = piece.tokens[-1], (TokenType.WHEN, TokenType.NOT, TokenType.VAR, TokenType.THEN, TokenType.INSERT)
    words = ["WHEN", "NOT", "MATCHED", "THEN", "INSERT", "ROW"]
    tokens = [
        Token(kind, word, old.line, old.col, old.start, old.end)
        for kind, word in zip((*kinds, TokenType.ROW), words, strict=True)
    ]
    return replace(piece, tokens=[*piece.tokens[:-2], *tokens], words=[*piece.words[:-2], *words])


def _with_placeholders(piece: Piece) -> Piece:
    """Oracle: `:1` as `?`. Behind an operand a colon is something else."""
    found = [at for at in range(1, len(piece.words) - 1) if _is_bound(piece, at)]
    for at in reversed(found):
        piece = _without(_replaced(piece, at, TokenType.PLACEHOLDER, "?"), at + 1, at + 2)
    return piece


def _is_bound(piece: Piece, at: int) -> bool:
    tokens = piece.tokens
    is_number = tokens[at].token_type is TokenType.COLON and tokens[at + 1].token_type is TokenType.NUMBER
    return is_number and tokens[at + 1].start == tokens[at].end + 1 and piece.words[at - 1] in _BEFORE_VALUE


def _without_projection(piece: Piece) -> Piece:
    """Vertica: `create table t as select … segmented by hash(id) all nodes`."""
    words = piece.words
    at = next((at for at in range(2, len(words)) if words[at - 1 : at + 1] in _SEGMENTED), None)
    return piece if at is None or "AS" not in words[:at] else _without(piece, at - 1, len(words))


def _without(piece: Piece, start: int, end: int) -> Piece:
    return _only(piece, [*range(start), *range(end, len(piece.tokens))])


def _only(piece: Piece, kept: list[int]) -> Piece:
    return replace(piece, tokens=[piece.tokens[at] for at in kept], words=[piece.words[at] for at in kept])


def _as_insert(piece: Piece) -> Piece:
    """MySQL and SQLite: `replace into t …`."""
    if piece.words[1:2] != ["INTO"]:
        return piece
    return _replaced(piece, 0, TokenType.INSERT, "INSERT")


def _replaced(piece: Piece, at: int, kind: TokenType, word: str) -> Piece:
    old = piece.tokens[at]
    token = Token(kind, word, old.line, old.col, old.start, old.end)
    tokens, words = list(piece.tokens), list(piece.words)
    tokens[at], words[at] = token, word
    return replace(piece, tokens=tokens, words=words)


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
    "MERGE": (
        without_top,
        _without_schema_evolution,
        _without_delete,
        _as_plain_assignments,
        _with_row_insert,
        _with_placeholders,
    ),
    "UPDATE": (without_top, _as_plain_assignments, _without_isolation, _with_placeholders),
    "DELETE": (without_top, _without_isolation, _with_placeholders),
    "WITH": (_as_plain_assignments, without_attributes, _without_isolation, _with_placeholders),
    "SELECT": (_as_plain_assignments, _without_strict, without_attributes, _without_isolation, _with_placeholders),
    "CREATE": (
        _without_snapshot,
        _without_no_data,
        _without_check_option,
        _without_projection,
        _without_statistics,
        without_attributes,
    ),
    "INSERT": (
        without_top,
        _without_infile,
        _without_format,
        _without_hint,
        without_attributes,
        _without_isolation,
        _with_placeholders,
    ),
    "ALTER": (_as_create,),
    "APPLY": (_as_insert_of_changes,),
    "LOAD": (_as_load,),
    "REPLACE": (_as_insert, without_attributes),
}
