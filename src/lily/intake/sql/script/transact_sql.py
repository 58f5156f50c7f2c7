"""Finds where statements begin in T-SQL, which needs no semicolons."""

from collections.abc import Iterator

from lily.intake.sql.script.piece import Piece

_VERBS = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"})
_STARTS = _VERBS | frozenset(
    {"CREATE", "ALTER", "DROP", "TRUNCATE", "DECLARE", "EXEC", "EXECUTE", "IF", "WHILE", "PRINT", "RETURN", "USE"}
    | {"RAISERROR", "THROW", "COMMIT", "ROLLBACK", "BEGIN", "END", "ELSE", "WITH", "SET", "OPEN", "FETCH", "CLOSE"}
    | {"DEALLOCATE", "WAITFOR", "BREAK", "CONTINUE", "GOTO", "GRANT", "DENY", "REVOKE", "GO"}
)
_CONTINUED = {  # words before which the statement is not over
    "SELECT": frozenset({"UNION", "ALL", "EXCEPT", "INTERSECT", "AS", "FOR", "("}),
    "WITH": frozenset({"AS", "FOR"}),
    "IF": frozenset({"TABLE", "VIEW", "INDEX", "PROCEDURE", "PROC", "FUNCTION", "SCHEMA", "TRIGGER", "TYPE", "COLUMN"}),
    "CREATE": frozenset({"OR", "GRANT"}),
    "ALTER": frozenset({"OR", "GRANT"}),
    "EXECUTE": frozenset({"WITH", "GRANT", ","}),
}
_DML_CONTINUED = frozenset({"BULK", "THEN", "FOR", "AFTER", "OF", ",", "ON", "GRANT"})
_ROUTINES = frozenset({"PROCEDURE", "PROC", "FUNCTION", "TRIGGER"})
_BEFORE_SET = frozenset({"ALTER", "MERGE"})


def split(piece: Piece) -> Iterator[Piece]:
    start, depth, cases = 0, 0, 0
    for at, word in enumerate(piece.words):
        if word == "CASE" or (word == "END" and cases):
            cases += 1 if word == "CASE" else -1
            continue
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth or cases:
            continue
        if at > start and _begins(piece.words, start, at):
            yield piece.part(start, at)
            start = at
        elif word == "AS" and _is_header(piece.words[start:at]):
            yield piece.part(start, at + 1)
            start = at + 1
    if start < len(piece.tokens):
        yield piece.part(start)


def _begins(words: list[str], start: int, at: int) -> bool:
    word, before = words[at], words[at - 1]
    if word not in _STARTS or before == "." or words[at + 1 : at + 2] == ["."]:
        return False
    if before in _CONTINUED.get(word, ()) or (word in _VERBS - {"SELECT"} and before in _DML_CONTINUED):
        return False
    return not (_is_clause(words, start, at) or _is_main_verb(words, start, at))


def _is_clause(words: list[str], start: int, at: int) -> bool:
    """A word that also begins a statement, but here is a part of one."""
    head, word = words[start], words[at]
    if word == "WITH" and (not _is_common_table(words, at) or _is_option(words[start:at])):
        return True
    if word == "UPDATE" and words[at + 1 : at + 2] == ["("]:
        return True  # the function of triggers
    if word == "SET":
        verb = _main_verb(words, start, at) or head
        return verb in _BEFORE_SET or (verb == "UPDATE" and "SET" not in words[start:at])
    if head in {"GRANT", "DENY", "REVOKE"}:
        return word != "GO"
    return head == "ALTER" and word in {"ALTER", "DROP", "WITH"}


def _is_main_verb(words: list[str], start: int, at: int) -> bool:
    """`with x as (…) insert into t select …`: none of these words begins another statement."""
    word, verb, common = words[at], _main_verb(words, start, at), _common_tables(words, start, at)
    if common is not None and not _main_verb(words, common, at):
        return word in _VERBS
    return verb == "INSERT" and word in {"SELECT", "EXEC", "EXECUTE", "WITH"} and _awaits_rows(words, start, at)


def _common_tables(words: list[str], start: int, at: int) -> int | None:
    """Where the last `with x as (…)` of the statement begins."""
    depth, found = 0, None
    for place in range(start, at):
        depth += {"(": 1, ")": -1}.get(words[place], 0)
        if depth == 0 and words[place] == "WITH" and _is_common_table(words, place):
            found = place
    return found


def _main_verb(words: list[str], start: int, at: int) -> str:
    depth = 0
    for word in words[start:at]:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0 and word in _VERBS:
            return word
    return ""


def _awaits_rows(words: list[str], start: int, at: int) -> bool:
    depth = 0
    for word in words[start:at]:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0 and word in {"SELECT", "VALUES", "EXEC", "EXECUTE"}:
            return False
    return True


def _is_common_table(words: list[str], at: int) -> bool:
    following = words[at + 1 : at + 3]
    return len(following) == 2 and following[0] not in {"(", "TIES", "CUBE", "ROLLUP"} and following[1] in {"AS", "("}


def _is_option(words: list[str]) -> bool:
    """`create view v with schemabinding as …`."""
    return words[0] in {"CREATE", "ALTER"} and "AS" not in words


def _is_header(words: list[str]) -> bool:
    return words[:1] in (["CREATE"], ["ALTER"]) and any(word in _ROUTINES for word in words[1:4])
