"""The words of names, as search compares them: separators are blanks, case does not count (`search_words` in SQL)."""

import re
from collections.abc import Iterable

_SEPARATORS = str.maketrans("./_:-", "     ")
_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """`\\w` leaves nothing that a tsquery would take for an operator."""
    return [word.lower() for word in _WORD.findall(text.translate(_SEPARATORS))]


def begin_words_of(asked: Iterable[str], text: str) -> bool:
    """Whether each of the words asked for begins a word of the text."""
    known = words(text)
    return all(any(word.startswith(beginning) for word in known) for beginning in asked)
