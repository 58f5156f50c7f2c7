"""A part of a script: some tokens, and where they are."""

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile

from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from lily.intake.sql.dialects import engine_of

_AFTER_KIND = frozenset({"AS", "ON", "FOR", "(", "RETURNS", "USING", "FUNCTION", "PROCEDURE", "TRIGGER"})
QUOTED = frozenset(
    {TokenType.STRING, TokenType.IDENTIFIER, TokenType.NATIONAL_STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING}
)
STRINGS = QUOTED - {TokenType.IDENTIFIER}


class Text:
    """A text with the positions of its lines. `offset` is where it begins in the script, if it is a part of it."""

    def __init__(self, text: str, script: "Text | None" = None, offset: int = 0) -> None:
        self.text = text
        self._script, self._offset = script, offset
        self._starts = [0] if script is not None else [0, *(at + 1 for at, mark in enumerate(text) if mark == "\n")]

    def position(self, at: int) -> tuple[int, int]:
        """The line and the column, counted from 1."""
        if self._script is not None:
            return self._script.position(at + self._offset)
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def place(self, at: int) -> int:
        """The offset in the script."""
        return at + self._offset if self._script is None else self._script.place(at + self._offset)

    def part(self, start: int, end: int) -> "Text":
        return Text(self.text[start:end], self, start)


class FixedText(Text):
    """A text that stands for a part of the script: all of it is at that part's position."""

    def __init__(self, text: str, position: tuple[int, int]) -> None:
        super().__init__(text)
        self._position = position

    def position(self, at: int) -> tuple[int, int]:  # noqa: ARG002 - as Text
        return self._position

    def place(self, at: int) -> int:  # noqa: ARG002 - as Text
        return -1


@dataclass(frozen=True, slots=True)
class Piece:
    tokens: list[Token]
    text: Text
    in_routine: bool = False  # so that `select … into x` assigns a variable
    reason: str | None = None  # why it cannot be analyzed
    words: list[str] = field(default_factory=list)
    chunk: tuple[int, int] | None = None  # from one semicolon to the next, if there is no other statement between
    rows: tuple[tuple[str, "Piece"], ...] = ()  # variables of loops, and the queries whose rows they are
    variables: frozenset[str] = frozenset()  # of the script so far: names that are not columns
    queried: frozenset[str] = frozenset()  # variables whose value comes from a query

    @property
    def position(self) -> tuple[int, int]:
        return self.text.position(self.tokens[0].start)

    @property
    def source(self) -> str:
        return self.text.text[self.tokens[0].start : self.tokens[-1].end + 1]

    @property
    def plain(self) -> str:
        """The statement without comments, its tokens separated by single spaces."""
        return " ".join(self.text.text[token.start : token.end + 1] for token in self.tokens)

    def part(self, start: int, end: int | None = None) -> "Piece":
        return replace(self, tokens=self.tokens[start:end], words=self.words[start:end])

    def refused(self, reason: str) -> "Piece":
        return replace(self, reason=reason)


def piece_of(tokens: list[Token], text: Text, *, in_routine: bool = False) -> Piece:
    return Piece(tokens, text, in_routine, words=[word(token) for token in tokens])


def word(token: Token) -> str:
    """A keyword or name in upper case; empty for what is quoted."""
    return "" if token.token_type in QUOTED else token.text.upper()


def makes_table(piece: Piece) -> bool:
    """Whether a CREATE is one of a table or view. MySQL writes up to twelve words before."""
    head = takewhile(lambda word: word not in _AFTER_KIND, piece.words)
    return not {"TABLE", "VIEW"}.isdisjoint(head)


def redefines_view(piece: Piece) -> bool:
    """Whether it is `alter view v as select …`."""
    words = piece.words
    if words[0] != "ALTER" or "VIEW" not in takewhile(lambda word: word not in _AFTER_KIND, words):
        return False
    return any(words[at] == "AS" and words[at + 1] in {"SELECT", "WITH", "("} for at in range(2, len(words) - 1))


def tokens_of(text: str, dialect: str) -> list[Token]:
    """Without comments, which sqlglot writes into the names of the columns that PIVOT makes. Raises TokenError, for
    example for a string without an end."""
    tokens = _tokenizer(dialect)(dialect=engine_of(dialect)).tokenize(text)
    for token in tokens:
        token.comments.clear()
    return tokens


@lru_cache
def _tokenizer(dialect: str) -> type[Tokenizer]:
    """sqlglot takes all that follows EXECUTE, CALL and others, up to a semicolon, for one string. Procedures need the
    tokens, and T-SQL has no semicolons."""
    return type("PlainTokenizer", (engine_of(dialect).tokenizer_class,), {"COMMANDS": set()})
