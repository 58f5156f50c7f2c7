"""Procedures, functions, tasks and anonymous blocks: what they contain."""

import re

from lily.intake.sql.script.piece import STRINGS, Piece

_CLASS = re.compile(r"[\w$]+(?:\.[\w$]+)*")
_BEFORE_BODY = frozenset({"AS", "DO", "IMMEDIATE", "EXECUTE", "SP_EXECUTESQL", "("})
_KINDS = frozenset({"PROCEDURE", "PROC", "FUNCTION", "TRIGGER", "PACKAGE", "TASK", "PIPE", "ALERT"})
_MODIFIERS = frozenset(
    {"OR", "REPLACE", "ALTER", "EDITIONABLE", "NONEDITIONABLE", "SECURE", "TEMP", "TEMPORARY", "IF", "NOT", "EXISTS"}
    | {"BODY", "AGGREGATE", "TABLE", "DEFINER", "=", "@", "CONSTRAINT"}
)
_OTHER_LANGUAGES = frozenset(
    {"JAVASCRIPT", "JS", "PYTHON", "JAVA", "SCALA", "C", "PLPYTHON3U", "PLPYTHONU", "PLPERL", "PLV8", "R"}
)


def kind_of(piece: Piece) -> str | None:
    """What a CREATE statement with a body creates."""
    if piece.words[0] in {"PROCEDURE", "FUNCTION"}:
        return piece.words[0]  # in a package
    if piece.words[0] not in {"CREATE", "ALTER"}:
        return None
    for word in piece.words[1:8]:
        if word in _KINDS:
            return None if word == "FUNCTION" and _is_class(piece) else word
        if word and word not in _MODIFIERS:
            return None
    return None


def _is_class(piece: Piece) -> bool:
    """Hive and Spark: `create function f as 'com.shop.Hash' using jar '…'` names a class, and has no body."""
    body = body_string(piece)
    return body is not None and _CLASS.fullmatch(piece.tokens[body].text) is not None


def language_of(piece: Piece) -> str | None:
    """The language of a routine if it is not SQL."""
    words = piece.words
    for at, word in enumerate(words[:-1]):
        if word == "LANGUAGE":
            named = words[at + 1] or piece.tokens[at + 1].text.upper()
            return named if named in _OTHER_LANGUAGES else None
    return None


def body_string(piece: Piece) -> int | None:
    """The index of the string that contains the body: `as $$ … $$`, `do $$ … $$`, `execute immediate '…'`, and in
    PL/pgSQL `execute '…'`."""
    before = {"AS"} if piece.words[0] in {"CREATE", "ALTER"} else _BEFORE_BODY
    for at, token in enumerate(piece.tokens):
        if token.token_type in STRINGS and at and piece.words[at - 1] in before:
            return at
    return None


def header_length(piece: Piece) -> int:
    """Up to the body that follows AS, IS or BEGIN."""
    depth = 0
    for at, word in enumerate(piece.words):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0 and word == "BEGIN":
            return at
        if depth == 0 and word in {"AS", "IS"} and at > 2:
            return at + 1
    return len(piece.words)
