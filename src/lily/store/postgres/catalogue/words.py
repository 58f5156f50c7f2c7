"""Queries of the index of searches (`search_entries` in migration 0038).

An `@` is replaced in SQL by what an entry begins with: the tenant and the last digit of an id. No term contains a
character that a tsquery would read as an operator.
"""

from collections.abc import Iterable, Sequence

from lily.model.search_terms import NAME_BEGINNING


def with_terms(prefixes: Iterable[str]) -> str:
    """Each begins a term of the names, the owner, the business terms or the description."""
    return " & ".join(f"('@n{prefix}':* | '@t{prefix}':*)" for prefix in prefixes)


def named_with(terms: Iterable[str]) -> str:
    """Each is a term of the names."""
    return " & ".join(f"'@n{term}'" for term in terms)


def ranks(prefixes: Sequence[str]) -> list[str]:
    """A query for each rank; every match has one rank. Empty for a rank that nothing can have."""
    anywhere, beginning = with_terms(prefixes), " ".join(prefixes)
    named = " & ".join(f"'@n{prefix}':*" for prefix in prefixes)
    rest = f"{anywhere} & !({named})"
    if not prefixes or len(beginning) > NAME_BEGINNING:
        return ["", "", named, rest if prefixes else ""]
    exact, begins = f"'@k{beginning}'", f"'@k{beginning}':*"
    return [exact, f"{begins} & !{exact}", f"{named} & !{begins}", rest]


def patterns(prefixes: Iterable[str]) -> list[str]:
    """For `like`: what the folded text of every match contains. No term has a character that means something there."""
    return [f"%{prefix}%" for prefix in prefixes]
