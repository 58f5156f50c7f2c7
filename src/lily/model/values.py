"""Validates and normalises single values, and collects every problem instead of stopping at the first."""

import unicodedata
from typing import Any

from lily.model.errors import Problem, Refused

MAX_PROBLEMS = 1_000  # of one input: it may have millions of wrong parts
MAX_NAME = 512
MAX_QUALIFIED_NAME = 1024  # an index entry in PostgreSQL holds at most 2,700 bytes
MAX_TEXT = 64 * 1024
MAX_TAG = 128
MAX_ITEMS = 500
MAX_KEY = 256
MAX_ATTRIBUTES = 500
MAX_DEPTH = 16
_MOST_COMPOSED = 4  # characters that normal form C turns into one, at most
_MOST_MARKS = 30  # combining marks in a row; Unicode's stream-safe text format has the same limit (UAX #15)


def normal_form(text: str, limit: int) -> str | None:
    """The text in Unicode normal form C, stripped; None if it is too long to fit in `limit` bytes, or has too many
    combining marks in a row. Sorting the marks takes quadratic time, so both are checked first."""
    text = text.strip()
    if len(text) > _MOST_COMPOSED * limit or _has_long_run_of_marks(text):
        return None
    return unicodedata.normalize("NFC", text).strip()


def _has_long_run_of_marks(text: str) -> bool:
    if len(text) <= _MOST_MARKS or text.isascii():
        return False
    run = 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run > _MOST_MARKS:
            return True
    return False


class Checker:
    """Collects the problems of one input. Raises Refused where there are too many to collect."""

    __slots__ = ("problems",)

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def refuse(self, code: str, description: str, entity: str) -> None:
        """Records the problem. Returns None, so that a check can end with `return checker.refuse(…)`."""
        self.problems.append(Problem(code, description, entity))
        if len(self.problems) >= MAX_PROBLEMS:
            raise Refused(*self.problems)

    def name(self, value: Any, entity: str, limit: int = MAX_NAME) -> str | None:
        """A short text in Unicode normal form C, stripped, without control characters."""
        if not isinstance(value, str):
            return self.refuse("INVALID_TYPE", f"{entity} must be a string", entity)
        if value.isascii() and value.isprintable() and 0 < len(value) <= limit and value[0] != " " != value[-1]:
            return value  # the fast path, for nearly every name
        text = normal_form(value, limit)
        if text == "":
            return self.refuse("INVALID_VALUE", f"{entity} must not be empty", entity)
        if text is None or len(text.encode("utf-8", "replace")) > limit:
            description = f"{entity} must not exceed {limit} bytes, nor have {_MOST_MARKS + 1} combining marks in a row"
            return self.refuse("TOO_LONG", description, entity)
        if any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in text):
            return self.refuse("INVALID_VALUE", f"{entity} must not contain control characters", entity)
        return text

    def text(self, value: Any, entity: str) -> str | None:
        """A long text, unchanged. Only characters that PostgreSQL cannot store are refused."""
        if not isinstance(value, str):
            return self.refuse("INVALID_TYPE", f"{entity} must be a string", entity)
        if len(value) > MAX_TEXT:
            return self.refuse("TOO_LONG", f"{entity} must not exceed {MAX_TEXT} characters", entity)
        if not self._storable(value):
            return self.refuse("INVALID_VALUE", f"{entity} must not contain NUL or lone surrogates", entity)
        return value

    def names(self, value: Any, entity: str, limit: int = MAX_NAME) -> list[str] | None:
        """A list of names in the given order, without duplicates."""
        if not isinstance(value, list):
            return self.refuse("INVALID_TYPE", f"{entity} must be a list of strings", entity)
        if len(value) > MAX_ITEMS:
            return self.refuse("TOO_LONG", f"{entity} must not have more than {MAX_ITEMS} items", entity)
        found = [self.name(item, f"{entity}[{index}]", limit) for index, item in enumerate(value)]
        return list(dict.fromkeys(item for item in found if item is not None))

    def free(self, value: Any, entity: str, depth: int = 0) -> Any:  # noqa: PLR0911 - one per kind of JSON value
        """Any JSON value that PostgreSQL can store: limited depth, no NUL, no lone surrogates."""
        if isinstance(value, str):
            return self.text(value, entity)
        if value is None or isinstance(value, bool | int | float):
            return value
        if depth >= MAX_DEPTH:
            return self.refuse("TOO_DEEP", f"{entity} is nested deeper than {MAX_DEPTH} levels", entity)
        if isinstance(value, list):
            return [self.free(item, entity, depth + 1) for item in value]
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str) or len(key) > MAX_KEY or not self._storable(key):
                    return self.refuse(
                        "INVALID_VALUE",
                        f"{entity} has a key that is too long or holds invalid characters",
                        entity,
                    )
            return {key: self.free(item, entity, depth + 1) for key, item in value.items()}
        return self.refuse("INVALID_TYPE", f"{entity} is not a JSON value", entity)

    @staticmethod
    def _storable(text: str) -> bool:
        if "\x00" in text:
            return False
        if text.isascii():
            return True
        try:
            text.encode()  # a lone surrogate cannot be
        except UnicodeEncodeError:
            return False
        return True
