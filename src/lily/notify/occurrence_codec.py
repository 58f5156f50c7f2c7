"""An occurrence as JSON, as it is kept with its notification, and back."""

from collections.abc import Collection, Mapping
from typing import Any

from lily.notify.events import Occurrence, Subject


def encoded(occurrence: Occurrence) -> dict[str, Any]:
    """Of each asset what messages show: id, type, name and owner. What filters look at is read again."""
    return {
        "event_id": occurrence.event_id,
        "kinds": list(occurrence.kinds),
        "severity": occurrence.severity,
        "at": occurrence.at,
        "subjects": [[one.id, one.entity_type, one.qualified_name, one.owner] for one in occurrence.subjects],
        "incident": dict(occurrence.incident) if occurrence.incident else None,
        "tags": list(occurrence.tags),
        "changed": list(occurrence.changed),
        "by": occurrence.by,
        "details": dict(occurrence.details),
        "own": sorted(occurrence.own),
    }


def decoded(stored: Mapping[str, Any], assets: Collection[str] | None = None) -> Occurrence:
    """With `assets`, about those alone."""
    subjects = (Subject(*one) for one in stored["subjects"])
    chosen = None if assets is None else frozenset(assets)
    return Occurrence(
        stored["event_id"],
        tuple(stored["kinds"]),
        stored["severity"],
        stored["at"],
        tuple(one for one in subjects if chosen is None or one.id in chosen),
        stored["incident"],
        tuple(stored["tags"]),
        tuple(stored["changed"]),
        stored["by"],
        stored["details"],
        frozenset(stored.get("own", ())),  # absent in what earlier versions have stored
    )
