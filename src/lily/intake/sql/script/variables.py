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
    found: dict[str, Piece] = {}
    for at in range(len(words) - 3):
        if words[at] == "FOR" and words[at + 2] == "IN":
            query = _looped(piece.part(at + 3), {**cursors, **found})
            found |= {words[at + 1].lower(): query} if query is not None else {}
    return found


def _looped(rest: Piece, cursors: Mapping[str, Piece]) -> Piece | None:
    if rest.words[0] not in {"(", "SELECT", "WITH"}:
        return cursors.get(rest.words[0].lower())
    end = next((at for at, word in enumerate(rest.words) if word in {"LOOP", "DO"}), len(rest.words))
    return rest.part(0, end)
