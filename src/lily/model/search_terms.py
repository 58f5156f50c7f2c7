"""The terms of a name, as search compares them: separators split, case does not count (`search_words` in SQL)."""

import re
from collections.abc import Iterable

_SEPARATORS = str.maketrans("./_:-", "     ")
_TERM = re.compile(r"\w+")


def search_terms(text: str) -> list[str]:
    """`\\w` keeps no character that a tsquery would read as an operator."""
    return [term.lower() for term in _TERM.findall(text.translate(_SEPARATORS))]


def matches_terms(prefixes: Iterable[str], text: str) -> bool:
    """Whether each prefix begins a term of the text."""
    terms = search_terms(text)
    return all(any(term.startswith(prefix) for term in terms) for prefix in prefixes)
