"""Splits a script into the statements that it executes, in their order."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from sqlglot.tokenizer_core import Token, TokenType

from lily.intake.sql.dialects import select_into_makes_a_table, semicolons_are_optional
from lily.intake.sql.script import routines, transact_sql
from lily.intake.sql.script.control_flow import is_control, peeled
from lily.intake.sql.script.output_clause import without_output
from lily.intake.sql.script.piece import Piece, Text, piece_of, tokens_of
from lily.intake.sql.script.queried_variables import fetched_rows, queried_variables
from lily.intake.sql.script.variables import declared_variables, parameters, row_variables

_VERBS = frozenset(
    {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "ALTER", "DROP", "TRUNCATE", "WITH", "CALL", "EXECUTE"}
    | {"BEGIN", "SET", "COPY", "GRANT", "USE", "EXEC", "REPLACE", "FOR", "IF"}
)
_DELIMITER = re.compile(r"^[ \t]*delimiter[ \t]+(\S+)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_BATCH_END = re.compile(r"^[ \t]*go(?:[ \t]+\d+)?[ \t]*;?[ \t]*(?:--[^\n]*)?$", re.IGNORECASE | re.MULTILINE)
_SLASH = re.compile(r"^[ \t]*/[ \t]*$", re.MULTILINE)
MAX_NESTING = 8  # of strings that contain statements


class Splitter:
    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._variables: set[str] = set()
        self._queried: set[str] = set()
        self._rows: dict[str, Piece] = {}

    def split(self, script: str) -> Iterator[Piece]:
        """Raises TokenError if no part of the script can be split into tokens."""
        yield from self._pieces(Text(self._with_semicolons(script)), in_routine=False, depth=0)

    def _with_semicolons(self, script: str) -> str:
        """The separators of command-line tools become semicolons, in the same places."""
        if (delimiter := _DELIMITER.search(script)) is not None and delimiter[1] != ";":
            mark = delimiter[1]
            script = _DELIMITER.sub(lambda found: _blank(found[0]), script)
            script = script.replace(mark, ";" + " " * (len(mark) - 1))
        if semicolons_are_optional(self._dialect):
            script = _BATCH_END.sub(lambda found: ";" + " " * (len(found[0]) - 1), script)
        return _SLASH.sub(lambda found: found[0].replace("/", ";"), script)

    def _pieces(self, text: Text, *, in_routine: bool, depth: int) -> Iterator[Piece]:
        declaring = False
        for chunk in self._chunks(text, in_routine=in_routine):
            piece, in_routine, declaring = self._without_header(chunk, in_routine=in_routine, declaring=declaring)
            for part in self._statements(piece):
                self._variables |= declared_variables(part, is_declaration=declaring)
                self._rows |= row_variables(part, self._rows)
                inner = peeled(part)
                self._follow(inner, in_routine=in_routine)
                if declaring and inner.words and inner.words[0] not in _VERBS:
                    continue
                if inner.words[:1] == ["DECLARE"] and not semicolons_are_optional(self._dialect):
                    declaring = True
                    inner = _after_begin(inner)
                    self._follow(inner, in_routine=in_routine)
                if inner.words and not is_control(inner):
                    declaring = False
                    yield from self._inside(inner, in_routine=in_routine, depth=depth)

    def _follow(self, piece: Piece, *, in_routine: bool) -> None:
        """Notes which variables get values from a query."""
        into_table = select_into_makes_a_table(self._dialect, in_routine=in_routine)
        self._queried |= queried_variables(piece, self._queried, into_table=into_table)
        self._rows |= fetched_rows(piece, self._rows)

    def _without_header(self, chunk: Piece, *, in_routine: bool, declaring: bool) -> tuple[Piece, bool, bool]:
        """A procedure whose body is not in a string: its first statement follows the header."""
        kind = routines.kind_of(chunk) if chunk.words else None
        if kind is None or routines.body_string(chunk) is not None or semicolons_are_optional(self._dialect):
            return chunk, in_routine, declaring
        length = routines.header_length(chunk)
        self._variables |= parameters(chunk.part(0, length))
        in_header = kind not in {"TASK", "PIPE", "ALERT"}
        declares = in_header and chunk.words[length - 1 : length] in (["AS"], ["IS"])
        return self._without_header(chunk.part(length), in_routine=in_routine or in_header, declaring=declares)

    def _statements(self, piece: Piece) -> Iterator[Piece]:
        if not piece.tokens:
            return
        if semicolons_are_optional(self._dialect):
            parts = [part for part in transact_sql.split(piece) if routines.kind_of(part) is None]
            yield from (replace(part, chunk=part.chunk if len(parts) == 1 else None) for part in parts)
        else:
            yield piece

    def _inside(self, piece: Piece, *, in_routine: bool, depth: int) -> Iterator[Piece]:
        """The statements in the body of a routine or of dynamic SQL, if that is a string; else the piece."""
        is_routine = routines.kind_of(piece) is not None or piece.words[0] == "DO"
        is_dynamic = piece.words[0] in {"EXECUTE", "EXEC"} and not _is_assembled(piece)
        body = routines.body_string(piece) if is_routine or is_dynamic else None
        language = routines.language_of(piece) if is_routine else None
        if language is not None:
            yield piece.refused(f"it is written in {language.lower()}, not in SQL")
        elif body is None or depth >= MAX_NESTING:
            rows, variables = tuple(self._rows.items()), frozenset(self._variables)
            queried = frozenset(self._queried)
            parts = without_output(piece, self._dialect) if semicolons_are_optional(self._dialect) else [piece]
            known = partial(replace, in_routine=in_routine, rows=rows, variables=variables, queried=queried)
            yield from map(known, parts)
        else:
            inner = _string_text(piece, piece.tokens[body])
            self._variables |= parameters(piece) if is_routine else set()
            yield from self._pieces(inner, in_routine=in_routine or is_routine, depth=depth + 1)

    def _chunks(self, text: Text, *, in_routine: bool) -> Iterator[Piece]:
        found, start = list[Token](), 0
        for token in self._tokens(text):
            if token.token_type is TokenType.SEMICOLON:
                yield replace(piece_of(found, text, in_routine=in_routine), chunk=(start, token.start))
                found, start = [], token.end + 1
            else:
                found.append(token)
        yield replace(piece_of(found, text, in_routine=in_routine), chunk=(start, len(text.text)))

    def _tokens(self, text: Text) -> list[Token]:
        return tokens_of(text.text, self._dialect)


def _after_begin(piece: Piece) -> Piece:
    return piece.part(piece.words.index("BEGIN") + 1) if "BEGIN" in piece.words else piece.part(len(piece.words))


def _is_assembled(piece: Piece) -> bool:
    """Dynamic SQL that is put together when it runs."""
    return any(word in {"||", "+", "CONCAT", "FORMAT"} for word in piece.words)


def _string_text(piece: Piece, token: Token) -> Text:
    source = piece.text.text[token.start : token.end + 1]
    start = source.find(token.text) if len(token.text) else -1
    if start < 0:  # quotes inside the string are doubled, so positions in it are not those of the script
        return Text(token.text)
    return piece.text.part(token.start + start, token.start + start + len(token.text))


def _blank(text: str) -> str:
    return " " * len(text)
