"""What a Monte Carlo message states about an incident. Every field may be missing, null or of another type."""

from typing import Any, Final

from lily.incidents import IncidentStatement, Severity, State, folded
from lily.incidents.statements import MAX_TITLE, MAX_URL, OPENED, UPDATED
from lily.intake.reading import Json, an_object, items, kept, name, required_object, text, web_address
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_ITEMS, MAX_NAME, MAX_TEXT

SOURCE = "monte-carlo"
CUSTOM_RULE = "open_custom_rule_anomaly_incident"
ANOMALY = "open_anomaly_incident"
OPENS = frozenset({CUSTOM_RULE, ANOMALY})

_RESOLVED = frozenset({"fixed", "expected", "no_action_needed", "false_positive"})
_ACKNOWLEDGED = frozenset({"investigating", "work_in_progress"})
_SEVERITIES: Final[dict[str, Severity]] = {
    "sev_1": "critical",
    "sev_2": "critical",
    "sev_3": "warning",
    "sev_4": "info",
}
_IDS = ("incident_id", "alert_id")
_TABLES = ("table_name", "full_table_id", "full_table_name")


def read_message(message: Any, by: str) -> IncidentStatement:
    """Raises Refused for a message that names no incident. One of a type that is not known updates the incident; the
    history keeps it as it came."""
    message = required_object(message, "a message of Monte Carlo")
    payload = an_object(message.get("payload"))
    kind = _word(message.get("type"))
    events = [event for event in items(payload.get("event_list")) if isinstance(event, dict)]
    rules = [rule for holder in (*events, payload) if (rule := an_object(holder.get("rule")))]
    feedback = _word(_changed(message, "alert_feedback"))
    severity = _SEVERITIES.get(_word(_changed(message, "declared_alert_severity")))
    owner = text(_owner(_changed(message, "owner")), MAX_NAME)
    tables = _tables(payload, events, rules)
    updates = kind not in OPENS or bool(feedback or severity or owner)
    return IncidentStatement(
        SOURCE,
        _external_id(message, payload),
        _state(kind, feedback),
        severity,
        title=_title(events, rules) or (None if updates else _default_title(kind, tables)),
        description=_description(events, rules),
        url=web_address(payload.get("url"), MAX_URL),
        kind=_kind(kind, events) or (None if updates else "anomaly"),
        owner=owner,
        tables=tables,
        rank=UPDATED if updates else OPENED,
        by=by,
        raw=kept(message),
    )


def _external_id(message: Json, payload: Json) -> str:
    for holder in (payload, message):
        for field in _IDS:
            given = holder.get(field)
            if isinstance(given, str | int) and not isinstance(given, bool) and str(given).strip():
                return str(given).strip()[:MAX_NAME]
    raise Refused(
        Problem("MISSING_FIELD", "payload.incident_id is required: it names the incident", "payload.incident_id")
    )


def _state(kind: str, feedback: str) -> State | None:
    if feedback in _RESOLVED:
        return "resolved"
    if feedback in _ACKNOWLEDGED:
        return "acknowledged"
    return "open" if kind in OPENS else None


def _changed(message: Json, name: str) -> Any:
    """A field that an update sets. A message of the type of that name may have it as `value`."""
    payload = an_object(message.get("payload"))
    for holder in (payload, message):
        if holder.get(name) is not None:
            return holder[name]
    return payload.get("value") if message.get("type") == name else None


def _owner(given: Any) -> Any:
    return given.get("email") or given.get("name") if isinstance(given, dict) else given


def _kind(kind: str, events: list[Json]) -> str:
    """What kind of issue it is; empty if the message does not state it."""
    if kind == CUSTOM_RULE:
        return "custom_rule"
    stated = (event.get(name) for event in events for name in ("event_type", "anomaly_type", "type"))
    return next((word[:MAX_NAME] for word in map(_word, stated) if word), "")


def _tables(payload: Json, events: list[Json], rules: list[Json]) -> tuple[str, ...]:
    details = [an_object(event.get("event_details")) for event in events]
    compared = [an_object(one) for rule in rules for one in items(rule.get("comparisons"))]
    holders = [payload, *events, *details, *rules, *compared]
    given = (name(holder.get(field)) for holder in holders for field in _TABLES)
    named = {folded(one): one for one in given if one and folded(one)}
    return tuple(named.values())[:MAX_ITEMS]


def _title(events: list[Json], rules: list[Json]) -> str | None:
    described = [text(rule.get(name), MAX_TITLE) for rule in rules for name in ("name", "description")]
    details = [text(event.get("event_details"), MAX_TITLE) for event in events]
    return next((found for found in (*described, *details) if found), None)


def _default_title(kind: str, tables: tuple[str, ...]) -> str:
    """Of a message that opens an incident. An update without a title must not replace the title of that one."""
    about = f" on {tables[0]}" if tables else ""
    return f"{'Custom rule breached' if kind == CUSTOM_RULE else 'Anomaly'}{about}"[:MAX_TITLE]


def _description(events: list[Json], rules: list[Json]) -> str | None:
    lines = [text(rule.get("description"), MAX_TEXT) for rule in rules]
    lines += [text(event.get("event_details"), MAX_TEXT) for event in events]
    return "\n".join(line for line in dict.fromkeys(lines) if line)[:MAX_TEXT] or None


def _word(given: Any) -> str:
    return given.strip().lower().replace("-", "_").replace(" ", "_") if isinstance(given, str) else ""
