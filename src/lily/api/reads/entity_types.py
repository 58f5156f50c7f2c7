"""The entity type in a filter."""

from lily.model.assets import ENTITY_TYPES
from lily.model.errors import Problem, Refused
from lily.model.suggestions import MAX_LENGTH, hint


def known_type(given: str) -> str:
    """The type, in lower case. Raises Refused with a hint if there is no such type."""
    name = given.strip().lower()
    if name not in ENTITY_TYPES:
        description = f"unknown entity type `{given[:MAX_LENGTH]}`; {hint(name, ENTITY_TYPES)}"
        raise Refused(Problem("UNKNOWN_ENTITY_TYPE", description, "entity_type"))
    return name
