"""Variables and parameters of procedures and scripts, which look like columns."""

from collections.abc import Mapping

from lily.intake.sql.script.piece import Piece

_MODES = frozenset({"IN", "OUT", "INOUT", "VARIADIC", "CONST", "LET"})
_NOT_DECLARED = frozenset(
    {"BEGIN", "CURSOR", "PRAGMA", "TYPE", "SUBTYPE", "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"}
)


def parameters(header: Piece) -> set[str]:
    """Of `create procedure p (in day date, n int)`."""
    found, depth, is_first = set[str](), 0, False
    for word in header.words:
        if depth == 1 and is_first and word and word not in _MODES and word != ")":
            found.add(word.lower())
            is_first = False
        depth += {"(": 1, ")": -1}.get(word, 0)
        is_first = is_first or (depth == 1 and word in {"(", ","})
        if depth == 0 and found and word == ")":
            return found
    return found


def declared_variables(piece: Piece, *, is_declaration: bool) -> set[str]:
    """Of `declare a, b int64`, `let n := 0`, `total number;` in a declaration, and `for row in …`."""
    words = piece.words
    if "CURSOR" in words[:5] and "SELECT" in words:
        return parameters(piece.part(0, words.index("SELECT")))
    if words[:1] in (["DECLARE"], ["LET"], ["FOR"]) and len(words) > 1:
        return _names(words[1:])
    if is_declaration and words and words[0] not in _NOT_DECLARED:
        return _names(words)
    return {words[0].lower()} if words[1:2] == [":="] and words[0] else set()


def _names(words: list[str]) -> set[str]:
    found = {words[0].lower()} if words[0] else set()
    for at in range(1, len(words) - 1, 2):
        if words[at] != ",":
            break
        found.add(words[at + 1].lower())
    return found


def row_variables(piece: Piece, cursors: Mapping[str, Piece]) -> dict[str, Piece]:
    """Of `for r in (select …) loop`, and of `cursor c is select …` with `for r in c loop`: name and query."""
    piece = piece.part(1) if piece.words[:2] == ["DECLARE", "CURSOR"] else piece
    words = piece.words
    if words[:1] == ["CURSOR"] and "SELECT" in words:
        return {words[1].lower(): piece.part(words.index("SELECT"))}
    if (declared := _declared_cursor(piece, cursors)) is not None:
        return declared
    found: dict[str, Piece] = {}
    for at in range(len(words) - 3):
        if words[at] == "FOR" and words[at + 2] == "IN":
            query = _looped(piece.part(at + 3), {**cursors, **found})
            found |= {words[at + 1].lower(): query} if query is not None else {}
    return found


def _declared_cursor(piece: Piece, cursors: Mapping[str, Piece]) -> dict[str, Piece] | None:
    """Of `c cursor for select …` in PL/pgSQL, `rs resultset default (select …)` and `c cursor for rs` in Snowflake."""
    piece = piece.part(1) if piece.words[:1] == ["DECLARE"] else piece
    words = piece.words
    at = next((at for at, word in enumerate(words[:6]) if word in {"CURSOR", "RESULTSET"}), 0)
    if at not in {1, 2, 3} or len(words) < at + 3 or not {"FOR", "DEFAULT", ":="} & set(words[at:]):
        return None
    if "SELECT" in words or "WITH" in words:
        start = min(words.index(word) for word in ("SELECT", "WITH") if word in words)
        depth = words[at:start].count("(") - words[at:start].count(")")
        return {words[0].lower(): piece.part(start, len(words) - depth if depth > 0 else None)}
    query = cursors.get(words[-1].lower())
    return None if query is None else {words[0].lower(): query}


def _looped(rest: Piece, cursors: Mapping[str, Piece]) -> Piece | None:
    if rest.words[0] not in {"(", "SELECT", "WITH"}:
        return cursors.get(rest.words[0].lower())
    end = next((at for at, word in enumerate(rest.words) if word in {"LOOP", "DO"}), len(rest.words))
    return rest.part(0, end)
