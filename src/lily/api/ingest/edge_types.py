"""The types of edges that something travels along, as edges have them."""

from lily.model.edges import MAX_TYPE
from lily.model.errors import Refused
from lily.model.values import Checker


def edge_types(given: list[str]) -> list[str]:
    """Raises Refused for what can be no type of an edge."""
    checker = Checker()
    types = checker.names(given, "edge_types", MAX_TYPE)
    if checker.problems:
        raise Refused(*checker.problems)
    return sorted({kind.lower() for kind in types or ()})
