"""*Did you mean*: the hint in an error about a name that is not known."""

from collections.abc import Collection
from difflib import get_close_matches

LONGEST = 64  # characters of a given name that are compared and quoted: it can be anything at all


def hint(given: str, known: Collection[str]) -> str:
    """`did you mean …?` for a name close to a known one, else what is known."""
    close = get_close_matches(given[:LONGEST].lower(), known, n=1)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"known are: {', '.join(sorted(known))}" if known else "there are none here"
