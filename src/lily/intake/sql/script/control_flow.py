"""Removes the words of procedural languages around a statement: `if x then insert …` becomes `insert …`."""

from collections.abc import Callable

from lily.intake.sql.script.piece import Piece

_TRANSACTION = frozenset({"TRANSACTION", "TRAN", "WORK", "ISOLATION", "READ", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"})
# Statements of procedural languages, which move no rows of tables.
_CONTROL = frozenset(
    {"END", "RETURN", "RAISE", "EXIT", "CONTINUE", "LEAVE", "ITERATE", "NULL", "COMMIT", "ROLLBACK", "OPEN", "FETCH"}
    | {"CLOSE", "LET", "SIGNAL", "RESIGNAL", "GET", "ASSERT", "SAVEPOINT", "START", "PRINT", "GO", "RAISERROR", "THROW"}
    | {"BREAK", "GOTO", "WAITFOR", "DEALLOCATE", "PRAGMA", "CURSOR", "SUBTYPE", "/", "PERFORM", "ABORT", "DELIMITER"}
)
_AFTER_BEGIN = frozenset({"TRY", "CATCH", "ATOMIC"})


def is_control(piece: Piece) -> bool:
    words = piece.words
    if not words or words[0].split(" ")[0] in _CONTROL:  # a token may have two words: `commit transaction`
        return True
    if words[0].split(" ")[0] == "BEGIN":
        return len(words) == 1 or " " in words[0] or words[1] in _TRANSACTION
    return words[1:2] in ([":="], ["TYPE"]) and words[0] not in {"CREATE", "ALTER", "DROP"}


def peeled(piece: Piece) -> Piece:
    """The piece without the words of control flow before its statement."""
    while piece.tokens and not is_control(piece):
        length = _STEPS.get(piece.words[0], _none)(piece.words)
        if length == 0:
            length = _label(piece.words)
        if length == 0:
            return piece
        piece = piece.part(length)
    return piece


def _none(_words: list[str]) -> int:
    return 0


def _one(_words: list[str]) -> int:
    return 1


def _begin(words: list[str]) -> int:
    return 2 if words[1] in _AFTER_BEGIN else 3 if words[1:3] == ["NOT", "ATOMIC"] else 1


def _until(*ends: str) -> Callable[[list[str]], int]:
    """Up to the first of these words outside of parentheses and CASE; the whole piece if there is none."""

    def length(words: list[str]) -> int:
        depth = cases = 0
        for at, word in enumerate(words[1:], 1):
            depth += {"(": 1, ")": -1}.get(word, 0)
            if depth == 0 and cases == 0 and word in ends:
                return at + 1
            cases += {"CASE": 1, "END": -1 if cases else 0}.get(word, 0)
        return len(words)

    return length


def _for(words: list[str]) -> int:
    return _until("LOOP", "DO")(words)


def _before_verb(words: list[str]) -> int:
    """Oracle: `forall i in 1 .. n update …`."""
    return next((at for at, word in enumerate(words) if word in {"INSERT", "UPDATE", "DELETE", "MERGE"}), len(words))


def _label(words: list[str]) -> int:
    if words[0] == "<<" and ">>" in words[:4]:
        return words.index(">>") + 1
    return 2 if words[1:2] == [":"] and words[2:3] and words[2] in {"BEGIN", "LOOP", "WHILE", "FOR", "REPEAT"} else 0


_STEPS: dict[str, Callable[[list[str]], int]] = {
    "BEGIN": _begin,
    "IF": _until("THEN"),
    "ELSIF": _until("THEN"),
    "ELSEIF": _until("THEN"),
    "WHEN": _until("THEN"),
    "CASE": _until("THEN"),
    "ELSE": _one,
    "EXCEPTION": _one,
    "LOOP": _one,
    "REPEAT": _one,
    "WHILE": _until("LOOP", "DO"),
    "UNTIL": len,
    "FOR": _for,
    "FORALL": _before_verb,
}
