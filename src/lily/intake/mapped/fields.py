"""Reads the fields of one item as a mapping states them."""

import hashlib
from typing import Any, NamedTuple, cast

from lily.incidents import SEVERITIES, IncidentStatement, SeriesPassed, Severity, State, folded
from lily.incidents.statements import FIELDS, OPENED, UPDATED
from lily.intake.mapped.mapping import ANY, PASSED, Condition, Mapping, Table, written
from lily.intake.mapped.paths import Path, read_path
from lily.intake.mapped.scopes import Scope
from lily.intake.mapped.templates import Template, read_template
from lily.intake.reading import kept, name, text, web_address
from lily.model import clock
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME
from lily.plugins import Delivery

MAX_TABLES = 100  # of one item: a message has thousands of items
_DIGITS = 32  # of a digest that stands for the rest of an id that is too long


class Read(NamedTuple):
    """The statement, or why there is none."""

    statement: IncidentStatement | SeriesPassed | None
    time: str = ""
    ignored: str = ""


class Reader:
    """One mapping, its paths read once."""

    def __init__(self, mapping: Mapping) -> None:
        self._source = mapping.name
        fields = mapping.fields
        self._templates: dict[str, list[Template]] = {
            field: [read_template(one) for one in written(getattr(fields, field))]
            for field in type(fields).model_fields
        }
        self._tables = {
            field: {key.lower(): value for key, value in stated.values.items()}
            for field in type(fields).model_fields
            if isinstance(stated := getattr(fields, field), Table)
        }
        self._conditions = [(read_path(one.path), one) for one in mapping.when]

    def read(self, scope: Scope, delivery: Delivery, by: str) -> Read:
        """Raises Refused for an item without an id."""
        for path, condition in self._conditions:
            if not _holds(path, condition, scope):
                return Read(None, ignored=f"the condition on {path.text} does not hold")
        outcome = self._value("state", scope) if self._templates["state"] else "open"
        if outcome is None:
            return Read(None, ignored="the value of state is missing or not listed in state.values")
        series = _short(self._value("series", scope), MAX_QUALIFIED_NAME)
        time = self._time(scope, delivery)
        if outcome != PASSED:
            return Read(self._statement(scope._replace(series=series), cast("State", outcome), by), time)
        if not series:
            return Read(None, ignored="the check passed, but series leads nowhere")
        return Read(SeriesPassed(self._source, series, by), time)

    def _statement(self, scope: Scope, state: State, by: str) -> IncidentStatement:
        external_id = _short(self._value("external_id", scope), MAX_NAME)
        if not external_id:
            described = f"the mapping {self._source} finds no external_id in the message: correct its path"
            raise Refused(Problem("MISSING_FIELD", described, "external_id"))
        return IncidentStatement(
            self._source,
            external_id,
            state,
            self._severity(scope),
            title=self._text("title", scope),
            description=self._text("description", scope),
            kind=self._text("kind", scope),
            owner=self._text("owner", scope),
            url=web_address(self._value("url", scope), FIELDS["url"]),
            tables=self._names(scope),
            rank=OPENED if state == "open" else UPDATED,
            by=by,
            series=scope.series,
            raw=kept(scope.item),
        )

    def _severity(self, scope: Scope) -> Severity | None:
        stated = (self._value("severity", scope) or "").lower()
        return next((one for one in SEVERITIES if one == stated), None)

    def _text(self, field: str, scope: Scope) -> str | None:
        return text(self._value(field, scope), FIELDS[field])

    def _value(self, field: str, scope: Scope) -> str | None:
        """The first value of the first alternative that has one; translated, if the mapping lists values."""
        value = next(iter(self._values(field, scope)), None)
        if value is None or field not in self._tables:
            return value
        table = self._tables[field]
        return table.get(value.strip().lower(), table.get(ANY))

    def _values(self, field: str, scope: Scope) -> list[str]:
        for template in self._templates[field]:
            if found := template.texts(scope):
                return found
        return []

    def _names(self, scope: Scope) -> tuple[str, ...]:
        given = (name(one) for one in self._values("tables", scope)[:MAX_TABLES])
        named = {folded(one): one for one in given if one and folded(one)}
        return tuple(named.values())

    def _time(self, scope: Scope, delivery: Delivery) -> str:
        """The message's own time, if it has one that is not to come; else when it was received."""
        stated: Any = self._value("time", scope)
        try:
            return min(clock.normalise_time(stated), delivery.received) if stated else delivery.received
        except ValueError:
            return delivery.received


def _holds(path: Path, condition: Condition, scope: Scope) -> bool:
    if path.is_of_item:
        return condition.holds(scope.find(path))
    return bool(scope.message.once(("when", id(condition)), lambda: condition.holds(scope.find(path))))


def _short(given: str | None, limit: int) -> str:
    """An id that is too long keeps its beginning, and a digest of all of it."""
    found = text(given, limit + 1) or ""
    if len(found.encode()) <= limit:
        return found
    digest = hashlib.sha256(str(given).encode("utf-8", "replace")).hexdigest()[:_DIGITS]
    return f"{text(given, limit - _DIGITS - 1)}~{digest}"
