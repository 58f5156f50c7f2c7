"""The *did you mean* hint in an error about an unknown name."""

from collections.abc import Collection
from difflib import get_close_matches

MAX_LENGTH = 64  # of a given name that is compared and quoted: it is untrusted and may be long
CUTOFF = 0.7  # difflib's 0.6 finds `time` similar to `active`


def similar(given: str, known: Collection[str]) -> str | None:
    """The known name that is most similar to the given one; None if none is similar."""
    close = get_close_matches(given[:MAX_LENGTH].lower(), known, n=1, cutoff=CUTOFF)
    return close[0] if close else None


def hint(given: str, known: Collection[str]) -> str:
    """`did you mean …?` for a name that is similar to a known one, else the list of known ones."""
    if meant := similar(given, known):
        return f"did you mean `{meant}`?"
    return f"use one of: {', '.join(sorted(known))}" if known else "there are none"
