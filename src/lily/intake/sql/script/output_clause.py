"""T-SQL: `insert into t … output inserted.id into log (id) …` is two statements in one."""

from lily.intake.sql.script.piece import FixedText, Piece, piece_of, tokens_of
from lily.intake.sql.script.rewrites import without_top

_VERBS = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "WITH"})
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
    shown, target = piece.part(start + 1, into).plain, piece.part(into + 1, end).plain
    # It is analyzed, and never executed.
    return f"insert into {target} select {shown} from {written} as inserted cross join {written} as deleted"  # noqa: S608


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
