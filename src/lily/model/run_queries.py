"""SQL that a run executed. It is analyzed after its event has been merged, and adds to the claims of the event."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lily.model.errors import Problem, Refused

MAX_TEXT = 128 << 10  # characters: the event with its claims has to fit into one record of the log
_STAR = re.compile(
    r"[,.]\s*\*|\b(?:select|distinct|all)\s*\*|(?<!\()\*\s*(?:[,;)]|$|(?:from|except|exclude|replace|rename|ilike)\b)",
    re.IGNORECASE,
)
_COMBINES = re.compile(r"\b(?:union|intersect|except|minus)\b", re.IGNORECASE)
_WINDOW = re.compile(r"\bover\s*[\w(\"`\[]", re.IGNORECASE)
_NO_COLUMNS: Mapping[str, Sequence[str]] = {}


class QuerySender(NamedTuple):
    """A caller whom policies restrict, as they know it."""

    user: str
    groups: tuple[str, ...]
    scraper_group: str

    def as_data(self) -> list[Any]:
        return [self.user, list(self.groups), self.scraper_group]


class RunQuery(NamedTuple):
    """`names` are those of the event's datasets, by the names that the producer uses; `namespace` is that of all other
    tables. `target` is the dataset that a bare query writes, by the producer's name, or empty. `sender` is None if no
    policy restricts the caller. It `expands` what `*` stands for if the caller has `metadata:read`. `columns` has the
    sources of columns, by qualified name, as the producer states them: they hold if the query is not understood."""

    text: str
    dialect: str  # as the producer names it, or empty
    namespace: str
    names: Mapping[str, str]
    target: str
    complete: bool  # the event completes its run once the query has been analyzed
    sender: QuerySender | None = None
    expands: bool = True
    columns: Mapping[str, Sequence[str]] = _NO_COLUMNS

    def as_data(self) -> list[Any]:
        *fields, sender, expands, columns = self
        data = [*fields, None if sender is None else sender.as_data(), expands, columns]
        while data[-1] in (None, True, {}) and len(data) > len(fields):  # what most queries have is left out
            data.pop()
        return data


def selects_star(text: str) -> bool:
    """Whether a query seems to have `*` or `t.*` among its columns. Decides by the text, because parsing takes any
    amount of time; what only looks like it is analyzed in vain."""
    return _STAR.search(text) is not None


def combines_queries(text: str) -> bool:
    """Whether a query seems to be a UNION or the like. Decides by the text."""
    return _COMBINES.search(text) is not None


def has_windows(text: str) -> bool:
    """Whether a query seems to have window functions. Decides by the text."""
    return _WINDOW.search(text) is not None


def read_run_query(given: Any) -> RunQuery | None:
    """Raises Refused if it is not a list of its fields."""
    match given:
        case None:
            return None
        case [str(text), str(dialect), str(namespace), dict(names), str(target), bool(complete), *more] if len(
            text
        ) <= MAX_TEXT and _are_texts([*names.values()]):
            return RunQuery(text, dialect, namespace, names, target, complete, *_rights(more))
    raise _invalid()


def _rights(given: list[Any]) -> tuple[QuerySender | None, bool, Mapping[str, Sequence[str]]]:
    match given:
        case []:
            return None, True, _NO_COLUMNS
        case [sender]:
            return read_sender(sender), True, _NO_COLUMNS
        case [sender, bool(expands)]:
            return None if sender is None else read_sender(sender), expands, _NO_COLUMNS
        case [sender, bool(expands), dict(columns)] if all(map(_is_list_of_texts, columns.values())):
            return None if sender is None else read_sender(sender), expands, columns
    raise _invalid()


def _is_list_of_texts(given: Any) -> bool:
    return isinstance(given, list) and _are_texts(given)


def read_sender(given: Any) -> QuerySender:
    """Raises Refused."""
    match given:
        case [str(user), list(groups), str(scraper_group)] if _are_texts(groups):
            return QuerySender(user, tuple(groups), scraper_group)
    raise _invalid()


def _are_texts(given: list[Any]) -> bool:
    return all(isinstance(one, str) for one in given)


def _invalid() -> Refused:
    described = (
        "query must be [text, dialect, namespace, qualified names by name, target, complete, sender, expands, columns]"
    )
    return Refused(Problem("INVALID_VALUE", described, "query"))
