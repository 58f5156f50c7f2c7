"""What is stated about an incident, and that a series of checks passed."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple, cast

from lily.incidents.states import SEVERITIES, STATES, Severity, State
from lily.model import ids
from lily.model.errors import Refused
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME, MAX_TEXT, Checker

MAX_TITLE = 1024
MAX_URL = 2048
OPENED, UPDATED, BY_A_PERSON = 0, 1, 2  # ranks: of two values of a field, the one of the higher rank wins
RANKS: Final = (OPENED, UPDATED, BY_A_PERSON)
# What is merged field by field, and how long each may be.
FIELDS: Final[dict[str, int]] = {
    "severity": MAX_NAME,
    "title": MAX_TITLE,
    "description": MAX_TEXT,
    "url": MAX_URL,
    "kind": MAX_NAME,
    "owner": MAX_NAME,
}
_WEB = ("https://", "http://")


@dataclass(frozen=True, slots=True)
class IncidentStatement:
    """An absent field is not stated. `tables` are names as the source writes them, `assets` ids. `series` names the
    check of which this is one failure: when it passes later, the incident is resolved."""

    source: str
    external_id: str
    state: State | None = None
    severity: Severity | None = None
    title: str | None = None
    description: str | None = None
    url: str | None = None
    kind: str | None = None
    owner: str | None = None
    tables: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    rank: int = OPENED
    by: str = ""
    note: str = ""
    series: str = ""
    raw: Any = None  # the message, for the history

    def as_data(self) -> dict[str, Any]:
        """Without what is not stated."""
        data = {one.name: getattr(self, one.name) for one in fields(self)} | {"tables": [*self.tables]}
        data["assets"] = [*self.assets]
        return {name: value for name, value in data.items() if value not in (None, "", [])}


class SeriesPassed(NamedTuple):
    """A check passed: incidents of its series that were opened before are resolved."""

    source: str
    series: str
    by: str = ""

    def as_data(self) -> dict[str, Any]:
        return {"source": self.source, "series": self.series} | ({"by": self.by} if self.by else {})


def read_statement(data: Mapping[str, Any]) -> IncidentStatement:
    """Raises Refused with every problem found."""
    checker = Checker()
    source, external_id = (
        checker.name(data.get("source"), "source"),
        checker.name(data.get("external_id"), "external_id"),
    )
    read = IncidentStatement(
        source or "",
        external_id or "",
        cast("State | None", _choice(checker, data, "state", STATES)),
        cast("Severity | None", _choice(checker, data, "severity", SEVERITIES)),
        title=_text(checker, data, "title", MAX_TITLE),
        description=_text(checker, data, "description", MAX_TEXT),
        url=_url(checker, data),
        kind=_text(checker, data, "kind", MAX_NAME),
        owner=_text(checker, data, "owner", MAX_NAME),
        tables=tuple(checker.names(_list(data, "tables"), "tables", MAX_QUALIFIED_NAME) or ()),
        assets=_assets(checker, data),
        rank=_rank(checker, data),
        by=_text(checker, data, "by", MAX_NAME) or "",
        note=_text(checker, data, "note", MAX_TEXT) or "",
        series=_text(checker, data, "series", MAX_QUALIFIED_NAME) or "",
        raw=checker.free(data.get("raw"), "raw"),
    )
    if checker.problems:
        raise Refused(*checker.problems)
    return read


def read_passed(data: Mapping[str, Any]) -> SeriesPassed:
    """Raises Refused with every problem found."""
    checker = Checker()
    source, series = (
        checker.name(data.get("source"), "source"),
        checker.name(data.get("series"), "series", MAX_QUALIFIED_NAME),
    )
    by = _text(checker, data, "by", MAX_NAME) or ""
    if checker.problems:
        raise Refused(*checker.problems)
    return SeriesPassed(source or "", series or "", by)


def _list(data: Mapping[str, Any], name: str) -> Any:
    return data[name] if data.get(name) is not None else []


def _text(checker: Checker, data: Mapping[str, Any], name: str, limit: int) -> str | None:
    value = data.get(name)
    if value is None:
        return None
    text = checker.text(value, name)
    if text is not None and len(text) > limit:
        checker.refuse("TOO_LONG", f"{name} must not exceed {limit} characters", name)
        return None
    return text


def _choice(checker: Checker, data: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str | None:
    value = data.get(name)
    if value is not None and value not in allowed:
        checker.refuse("INVALID_VALUE", f"{name} must be one of {', '.join(allowed)}", name)
        return None
    return value


def _url(checker: Checker, data: Mapping[str, Any]) -> str | None:
    """A link that people click: `javascript:` and its like are refused."""
    url = _text(checker, data, "url", MAX_URL)
    if url and not url.lower().startswith(_WEB):
        checker.refuse("INVALID_VALUE", "url must begin with https:// or http://", "url")
        return None
    return url


def _assets(checker: Checker, data: Mapping[str, Any]) -> tuple[str, ...]:
    found = checker.names(_list(data, "assets"), "assets") or []
    for asset in found:
        if not ids.looks_like_uuid(asset):
            checker.refuse("INVALID_VALUE", f"{asset!r} is not the id of an asset; name it in tables instead", "assets")
    return tuple(asset.lower() for asset in found)


def _rank(checker: Checker, data: Mapping[str, Any]) -> int:
    rank = data.get("rank", OPENED)
    if type(rank) is not int or rank not in RANKS:
        checker.refuse("INVALID_VALUE", f"rank must be one of {', '.join(map(str, RANKS))}", "rank")
        return OPENED
    return rank
