"""Teradata's attributes after an expression: `total (title 'Total', format 'zz9')`, `a (named b)`, `a title 'A'`."""

from collections.abc import Iterator
from dataclasses import replace

from sqlglot.tokenizer_core import Token, TokenType

from lily.intake.sql.script.piece import STRINGS, Piece

_ATTRIBUTES = frozenset({"TITLE", "FORMAT", "NAMED"})
_NOT_BEFORE = frozenset({",", "(", "SELECT", "DISTINCT", "ALL"})  # here TITLE is a column


def without_attributes(piece: Piece) -> Piece:
    """The statement without them. NAMED becomes AS; the type that may be among them is a cast, which moves nothing."""
    if _ATTRIBUTES.isdisjoint(piece.words):
        return piece
    kept = list(_kept(piece))
    return replace(piece, tokens=[token for token, _ in kept], words=[word for _, word in kept])


def _kept(piece: Piece) -> Iterator[tuple[Token, str]]:
    at, words, tokens = 0, piece.words, piece.tokens
    while at < len(words):
        end = _end_of_attributes(piece, at)
        if end is not None:
            yield from _name(piece, at, end)
            at = end
        elif at > 0 and words[at] == "TITLE" and _is_text(piece, at + 1) and words[at - 1] not in _NOT_BEFORE:
            at += 2
        else:
            yield tokens[at], words[at]
            at += 1


def _end_of_attributes(piece: Piece, at: int) -> int | None:
    """The end of the parentheses that begin here, if they have attributes; None if they are something else."""
    if piece.words[at] != "(" or at == 0:
        return None
    depth, found, end = 0, False, at
    for end in range(at, len(piece.words)):
        word = piece.words[end]
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0:
            break
        if depth == 1 and word in _ATTRIBUTES and piece.words[end - 1] in {"(", ","}:
            found |= _is_text(piece, end + 1) if word != "NAMED" else _is_name(piece, end + 1)
        if word in {"SELECT", "FROM"}:
            return None
    return end + 1 if found and depth == 0 else None


def _name(piece: Piece, start: int, end: int) -> Iterator[tuple[Token, str]]:
    for at in range(start, end - 1):
        if piece.words[at] == "NAMED" and piece.words[at - 1] in {"(", ","}:
            named = piece.tokens[at]
            yield Token(TokenType.ALIAS, "AS", named.line, named.col, named.start, named.end), "AS"
            yield piece.tokens[at + 1], piece.words[at + 1]
            return


def _is_text(piece: Piece, at: int) -> bool:
    return at < len(piece.tokens) and piece.tokens[at].token_type in STRINGS


def _is_name(piece: Piece, at: int) -> bool:
    return at + 1 < len(piece.tokens) and piece.words[at + 1] in {")", ","}
