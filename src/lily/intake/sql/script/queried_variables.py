"""Variables whose values come from a query: `select email into v`, `fetch c into v`, `set v = (select …)`."""

from collections.abc import Collection, Iterator, Mapping

from lily.intake.sql.script.piece import Piece

_SIGNS = frozenset({"@", ":", "$"})
_INTO = frozenset({"SELECT", "WITH", "FETCH", "EXECUTE"})
_RETURNING = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})
_ASSIGNS = frozenset({"SET", "DECLARE", "LET"})
_EQUALS = frozenset({"=", ":=", "DEFAULT"})


def queried_variables(piece: Piece, before: Collection[str], *, into_table: bool) -> set[str]:
    """Those that the statement sets, in lower case and without `@`; `before` are those that had been set. `into_table`:
    whether SELECT INTO makes a table, unless its name is that of a variable by its `@`."""
    words = piece.words
    head = words[0] if words else ""
    if head in _ASSIGNS or words[1:2] == [":="]:
        items = _split(words[1:] if head in _ASSIGNS else words)
        return {name for item in items for name in _assigned(item, before)}
    found = _into(words, into_table=into_table and head != "FETCH")
    return found | (set(_selected(words)) if head == "SELECT" else set())


def fetched_rows(piece: Piece, cursors: Mapping[str, Piece]) -> dict[str, Piece]:
    """Of `fetch c into r`, if the query of the cursor is known: the name of the variable, and the query."""
    words = piece.words
    if words[:1] != ["FETCH"] or "INTO" not in words:
        return {}
    into = words.index("INTO")
    query, names = cursors.get(words[into - 1].lower()), list(_names(words[into + 1 :]))
    return {names[0]: query} if query is not None and len(names) == 1 else {}


def _into(words: list[str], *, into_table: bool) -> set[str]:
    start = 0
    if words[:1] and words[0] in _RETURNING:
        start = words.index("RETURNING") if "RETURNING" in words else len(words)
    elif words[:1] and words[0] not in _INTO:
        return set()
    if "INTO" not in words[start:]:
        return set()
    rest = words[words.index("INTO", start) + 1 :]
    rest = rest[1:] if rest[:1] == ["STRICT"] else rest
    return set(_names(rest)) if not into_table or rest[:1] == ["@"] else set()


def _names(words: list[str]) -> Iterator[str]:
    """Of `a, :b, @c`."""
    for item in _split(words):
        rest = item[1:] if item[:1] and item[0] in _SIGNS else item
        if rest[:1] and rest[0]:
            yield rest[0].lower()
        if len(rest) != 1:
            return


def _selected(words: list[str]) -> Iterator[str]:
    """T-SQL: `select @a = x, @b = y from t`; MySQL has `:=`."""
    if "FROM" not in words:
        return
    for item in _split(words[1 : words.index("FROM")]):
        at = item.index("@") if "@" in item[:5] else len(item)  # behind `top (1)` or `distinct`
        if item[at + 2 : at + 3] in (["="], [":="]):
            yield item[at + 1].lower()


def _assigned(item: list[str], before: Collection[str]) -> Iterator[str]:
    """The names before `=`, if a query or a variable that a query has set follows."""
    at = next((at for at, word in enumerate(item) if word in _EQUALS), None)
    if at is None or not any(word == "SELECT" or word.lower() in before for word in item[at + 1 :]):
        return
    if item[0] == "(":
        yield from _names(item[1 : item.index(")")])
    else:
        yield from _names(item[: 2 if item[0] in _SIGNS else 1])


def _split(words: list[str]) -> Iterator[list[str]]:
    """At the commas outside of parentheses."""
    depth, start = 0, 0
    for at, word in enumerate(words):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == "," and depth == 0:
            yield words[start:at]
            start = at + 1
    yield words[start:]
