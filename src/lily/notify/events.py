"""What happened: one occurrence per record of the topics that the reaction `notifications` reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from lily.model.assets import tag_key

Severity = Literal["info", "warning", "critical"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
_NAMED_BY_STATE = {"open": "opened", "acknowledged": "acknowledged", "resolved": "resolved"}


@dataclass(frozen=True, slots=True)
class Subject:
    """An asset that an event is about, with what filters look at. An asset without an owner has its ancestor's."""

    id: str
    entity_type: str = ""
    qualified_name: str = ""
    owner: str = ""
    tags: frozenset[str] = frozenset()  # folded: stated, propagated and inherited
    ancestors: frozenset[str] = frozenset()
    upstream: frozenset[str] = frozenset()  # what it is derived from; read only if a subscription needs it
    downstream_owners: frozenset[str] = frozenset()  # likewise


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An event may be of several kinds: an update that adds a tag is `asset.updated` and `tag.tagged`."""

    event_id: str
    kinds: tuple[str, ...]
    severity: Severity
    at: str
    subjects: tuple[Subject, ...] = ()
    incident: Mapping[str, Any] | None = None
    tags: tuple[str, ...] = ()  # that came or went
    changed: tuple[str, ...] = ()  # fields
    by: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    own: frozenset[str] = frozenset()  # of a risk: the assets that the incident itself concerns, by id

    @property
    def incident_id(self) -> str | None:
        return str(self.incident["incident_id"]) if self.incident else None

    def about(self, subjects: Sequence[Subject]) -> "Occurrence":
        return replace(self, subjects=tuple(subjects))


def read_announcement(envelope: Mapping[str, Any]) -> Occurrence | None:
    """An event of `notification-events`; None for a kind of announcement that notifies nobody. Raises KeyError or
    TypeError for anything that the relay does not write."""
    data = envelope["data"]
    change, subjects = data["change"], _subjects(data.get("assets") or ())
    if change == "incident":
        incident = data["incident"]
        return Occurrence(
            envelope["id"],
            incident_kinds(incident),
            severity_of(incident.get("severity")),
            envelope["time"],
            subjects,
            incident,
        )
    if change in {"at_risk", "clear"}:
        incident = data["incident"]
        severity = severity_of(incident.get("severity")) if change == "at_risk" else "info"
        own = frozenset(map(str, data.get("own") or ()))
        return Occurrence(envelope["id"], (f"risk.{change}",), severity, envelope["time"], subjects, incident, own=own)
    if change in {"tagged", "untagged"}:
        tag = str(data["cause"]["tag"])
        return Occurrence(envelope["id"], (f"tag.{change}",), "info", envelope["time"], subjects, tags=(tag,))
    return None


def incident_kinds(incident: Mapping[str, Any]) -> tuple[str, ...]:
    """`incident.opened` where the state is new, else `incident.updated`; of the quality rules also `quality.RULE`."""
    state, previous = incident["state"], incident.get("previous_state")
    kind = "incident.updated" if state == previous else f"incident.{_NAMED_BY_STATE[state]}"
    return (kind, *rule_kinds(incident))


def rule_kinds(incident: Mapping[str, Any]) -> tuple[str, ...]:
    rule = incident.get("kind")
    return (f"quality.{rule}",) if incident.get("source") == "quality" and rule else ()


def read_change(record: Mapping[str, Any]) -> Occurrence:
    """A record of `subscribed-changes`."""
    change, tags = record["change"], record["tags"]
    kinds = [] if change in {"tagged", "untagged"} else [f"asset.{change}"]
    kinds += [f"tag.{name}" for name, moved in (("tagged", tags["added"]), ("untagged", tags["removed"])) if moved]
    subject = Subject(record["asset"], record["entity_type"] or "", record["qualified_name"] or "")
    return Occurrence(
        record["id"],
        tuple(kinds),
        "warning" if change == "deleted" else "info",
        record["at"],
        (subject,),
        tags=(*tags["added"], *tags["removed"]),
        changed=tuple(record["changed"]),
        by=record["by"],
        details={"layer": record["layer"]},
    )


def change_record(
    *,
    event_id: str,
    asset: str,
    entity_type: str | None,
    qualified_name: str,
    layer: str,
    change: str,
    changed: Sequence[str],
    tags: Mapping[str, Sequence[str]],
    by: str,
    at: str,
) -> dict[str, Any]:
    """The record of a change of an asset on `subscribed-changes`: what changed, without the values."""
    return {
        "id": event_id,
        "asset": asset,
        "entity_type": entity_type,
        "qualified_name": qualified_name,
        "layer": layer,
        "change": change,
        "changed": list(changed),
        "tags": {"added": list(tags["added"]), "removed": list(tags["removed"])},
        "by": by,
        "at": at,
    }


def changes_of(change: str, tags: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """What a change counts as, for `wanted_changes`: an update that adds a tag is also `tagged`."""
    also = [name for name, moved in (("tagged", tags["added"]), ("untagged", tags["removed"])) if moved]
    return frozenset({change, *also})


def severity_of(given: Any) -> Severity:
    return given if given in SEVERITIES else "warning"


def at_least(severity: Severity, least: Severity) -> bool:
    return SEVERITIES.index(severity) >= SEVERITIES.index(least)


def known(subject: Subject, **facts: Any) -> Subject:
    """The subject with what the store knows of it. An asset that is not stored keeps what the event says."""
    found = {name: value for name, value in facts.items() if value}
    if "tags" in found:
        found["tags"] = frozenset(tag_key(tag) for tag in found["tags"])
    return replace(subject, **found)


def _subjects(assets: Sequence[Sequence[Any]]) -> tuple[Subject, ...]:
    return tuple(Subject(str(one[0]), one[1] or "", one[2] or "") for one in assets)
