"""The terms by which assets are found. Migration 0038 has the same rules in SQL, for the index."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from json import dumps
from typing import Any, NamedTuple

LONGEST = 64  # letters of a term; what is longer is cut, there and here
NAME_BEGINNING = 100  # letters of a name's terms, by which its rank is decided
TEXT_TERMS = 64  # of owner, business terms and description together
_DESCRIPTION, _BUSINESS_TERMS = 500, 300  # characters that are looked at
# By code points: what is a letter differs between versions of Unicode. Lone surrogates only occur in searches.
_SEPARATORS = re.compile(
    r"[\u0000-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7"
    r"\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\ufe00-\ufe1f\ufe30-\ufe6f"
    r"\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ud800-\udfff\U0001f000-\U0001faff]+"
)
# Row counts, dates and ids of runs change at every refresh, and would change the index with it.
_NUMBERS = re.compile(r"\b[0-9][0-9A-Za-z]*", re.ASCII)


class Searched(NamedTuple):
    """The terms of an asset: of its names, and of owner, business terms and description."""

    names: Collection[str]
    texts: Collection[str]
    beginning: str = ""  # of the name

    def match(self, prefixes: Iterable[str]) -> bool:
        """Whether each prefix begins a term."""
        return all(_begins_any(prefix, self.names) or _begins_any(prefix, self.texts) for prefix in prefixes)

    def rank(self, prefixes: Sequence[str]) -> int:
        """1 if they are the name, 2 if the name begins with them, 3 if the names have all of them, 4 for the rest."""
        sought = " ".join(prefixes)
        if len(sought) <= NAME_BEGINNING and self.beginning.startswith(sought):
            return 1 if self.beginning == sought else 2
        return 3 if all(_begins_any(prefix, self.names) for prefix in prefixes) else 4


def search_terms(text: str) -> list[str]:
    """Case does not count."""
    return [term[:LONGEST] for term in words_of(text.casefold())]


def words_of(text: str) -> list[str]:
    """The terms as they are written."""
    return [word for word in _SEPARATORS.split(text) if word]


def name_beginning(text: str) -> str:
    """The terms of a name as its rank compares them."""
    return " ".join(search_terms(text))[:NAME_BEGINNING]


def searched(qualified_name: str, shown: Mapping[str, Any]) -> Searched:
    """`shown` are the shown fields of the asset."""
    name = str(shown.get("name") or "")
    return Searched(search_terms(f"{name} {qualified_name}"), text_terms(shown), name_beginning(name))


def text_terms(shown: Mapping[str, Any]) -> Sequence[str]:
    """The first terms of owner, business terms and description. Numbers in a description are left out."""
    terms, description = shown.get("business_terms"), str(shown.get("description") or "")
    described = _NUMBERS.sub(" ", description[:_DESCRIPTION])
    listed = "" if terms is None else dumps(terms, ensure_ascii=False)[:_BUSINESS_TERMS]
    return search_terms(f"{shown.get('owner') or ''} {listed} {described}")[:TEXT_TERMS]


def matches_terms(prefixes: Iterable[str], text: str) -> bool:
    """Whether each prefix begins a term of the text."""
    return Searched(search_terms(text), ()).match(prefixes)


def _begins_any(prefix: str, terms: Iterable[str]) -> bool:
    return any(term.startswith(prefix) for term in terms)
