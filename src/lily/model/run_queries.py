"""SQL that a run executed. It is analyzed after its event has been merged, and adds to the claims of the event."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lily.model.errors import Problem, Refused

MAX_TEXT = 128 << 10  # characters: the event with its claims has to fit into one record of the log


class RunQuery(NamedTuple):
    """`names` are those of the event's datasets, by the names that the producer uses; `namespace` is that of all other
    tables. `target` is the dataset that a bare query writes, by the producer's name, or empty."""

    text: str
    dialect: str  # as the producer names it, or empty
    namespace: str
    names: Mapping[str, str]
    target: str
    complete: bool  # the event completes its run once the query has been analyzed


def read_run_query(given: Any) -> RunQuery | None:
    """Raises Refused if it is not a list of its fields."""
    match given:
        case None:
            return None
        case [str(text), str(dialect), str(namespace), dict(names), str(target), bool(complete)] if len(
            text
        ) <= MAX_TEXT and all(isinstance(name, str) for name in names.values()):
            return RunQuery(text, dialect, namespace, names, target, complete)
    described = "query must be [text, dialect, namespace, qualified names by name, target, complete]"
    raise Refused(Problem("INVALID_VALUE", described, "query"))
