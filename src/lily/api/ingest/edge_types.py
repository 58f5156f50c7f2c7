"""Edge types as a caller lists them, for example in the definition of a tag."""

from lily.model.edges import MAX_TYPE
from lily.model.errors import Refused
from lily.model.values import Checker


def edge_types(given: list[str]) -> list[str]:
    """In lower case, as edges have them, sorted and without repetition. Raises Refused for an invalid type."""
    checker = Checker()
    types = checker.names(given, "edge_types", MAX_TYPE)
    if checker.problems:
        raise Refused(*checker.problems)
    return sorted({kind.lower() for kind in types or ()})
