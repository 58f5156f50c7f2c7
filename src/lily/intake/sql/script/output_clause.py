"""T-SQL: `insert into t … output inserted.id into log (id) …` is two statements in one."""

from lily.intake.sql.script.piece import FixedText, Piece, piece_of, tokens_of
from lily.intake.sql.script.rewrites import without_top

_VERBS = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "WITH"})
_BEFORE_NAME = frozenset({"FROM", "JOIN", ",", "."})
_BEFORE_TARGET = frozenset({"INSERT", "INTO", "UPDATE", "DELETE", "FROM", "MERGE"})


def without_output(piece: Piece, dialect: str) -> list[Piece]:
    """The statement, and what its OUTPUT clause inserts into another table."""
    if piece.words[0] not in _VERBS or "OUTPUT" not in piece.words:
        return [piece]
    piece = without_top(piece)
    words = piece.words
    start = words.index("OUTPUT")
    into = words.index("INTO", start) if "INTO" in words[start:] else None
    if into is None:
        return [piece]
    end = _end_of_target(words, into + 1)
    main = piece.part(0, start)
    rest = piece.part(end)
    statement = Piece(main.tokens + rest.tokens, piece.text, piece.in_routine, words=main.words + rest.words)
    text = _insert(piece, start, into, end)
    if text is None:
        return [statement]
    inserted = piece_of(tokens_of(text, dialect), FixedText(text, piece.position), in_routine=piece.in_routine)
    return [statement, inserted]


def _insert(piece: Piece, start: int, into: int, end: int) -> str | None:
    written = _written(piece)
    if written is None:
        return None
    written = _aliased(piece, end, written.upper()) or written
    shown, target = piece.part(start + 1, into), piece.part(into + 1, end).plain
    rows = f"{written} as inserted cross join {written} as deleted"
    if _shows_others(shown) and (others := _others(piece, end)) is not None:
        rows += f" cross join {others}"
    # It is analyzed, and never executed.
    return f"insert into {target} select {shown.plain} from {rows}"  # noqa: S608


def _shows_others(shown: Piece) -> bool:
    """Whether there is a column of another table than the one that is written."""
    words = shown.words
    return any(word == "." and words[at - 1] not in {"INSERTED", "DELETED"} for at, word in enumerate(words) if at)


def _others(piece: Piece, end: int) -> str | None:
    """The tables in USING of a MERGE, and in FROM of an UPDATE or DELETE behind its OUTPUT clause."""
    words, depth, start = piece.words, 0, None
    is_merge = "USING" in words
    begins, ends = ("USING", {"ON"}) if is_merge else ("FROM", {"WHERE", "OPTION"})
    for at, word in enumerate(words):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0 and start is None and word == begins and (is_merge or at >= end):
            start = at + 1
        elif depth == 0 and start is not None and word in ends:
            return piece.part(start, at).plain
    return None if start is None else piece.part(start).plain


def _aliased(piece: Piece, end: int, alias: str) -> str | None:
    """The table that has the alias in the FROM clause behind OUTPUT: `update t … output … from dbo.people as t`."""
    words = piece.words
    for at in range(end + 2, len(words)):
        if words[at] != alias or words[at - 1] in _BEFORE_NAME or words[at + 1 : at + 2] == ["."]:
            continue
        last = at - 2 if words[at - 1] == "AS" else at - 1
        first = last
        while words[first - 1] == ".":
            first -= 2
        if words[first - 1] in _BEFORE_NAME:
            return piece.part(first, last + 1).plain
    return None


def _written(piece: Piece) -> str | None:
    """The table that the statement writes."""
    words = piece.words
    verb = next((at for at, word in enumerate(words) if word in _VERBS - {"WITH"}), None)
    if verb is None:
        return None
    at = verb
    while at < len(words) and words[at] in _BEFORE_TARGET:
        at += 1
    end = at + 1
    while words[end : end + 1] == ["."]:
        end += 2
    return piece.part(at, end).plain.replace(" . ", ".")


def _end_of_target(words: list[str], start: int) -> int:
    end = start + 1
    while end < len(words) and (words[end] == "." or words[end - 1] in {"@", "#"}):
        end += 2 if words[end] == "." else 1
    if words[end : end + 1] == ["("] and ")" in words[end:]:
        end = words.index(")", end) + 1
    return end
