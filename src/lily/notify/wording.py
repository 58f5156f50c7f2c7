"""How a notification reads: the standard title and text, and what a template can use."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jinja2 import TemplateError

from lily.notify.events import Occurrence, Subject
from lily.notify.links import asset_url, incident_url
from lily.notify.subscriptions import Template
from lily.notify.templates import MAX_ITEMS, render

MAX_SHOWN = MAX_ITEMS  # assets that a message or a template has
MAX_TITLE = 300
MAX_LINES = 10  # assets that the standard text names
MAX_VALUE = 4_000  # characters of one value that comes from outside

_SAID = {
    "incident.opened": "Incident opened",
    "incident.acknowledged": "Incident acknowledged",
    "incident.resolved": "Incident resolved",
    "incident.updated": "Incident updated",
    "risk.at_risk": "At risk",
    "risk.clear": "No longer at risk",
    "tag.tagged": "Tagged",
    "tag.untagged": "Tag removed",
    "asset.created": "Created",
    "asset.updated": "Changed",
    "asset.deleted": "Deleted",
    "asset.restored": "Restored",
}


class Worded(NamedTuple):
    title: str
    text: str


def standard(kind: str, occurrence: Occurrence) -> Worded:
    """The title and the text without a template."""
    said = _SAID.get(kind) or _SAID.get(occurrence.kinds[0], kind)
    names, incident = [one.qualified_name or one.id for one in occurrence.subjects], occurrence.incident
    if incident and kind.partition(".")[0] != "risk":
        subject = _text(incident.get("title")) or _text(incident.get("external_id"))
    else:
        subject = _tag_list(kind, occurrence) + (_count(names) if names else "an asset that is not known")
    return Worded(f"{said}: {subject}"[:MAX_TITLE], "\n".join(_lines(occurrence, names)))


def worded(template: Template, usual: Worded, values: Mapping[str, Any]) -> tuple[Worded, str]:
    """The title and text of a subscription, and what is wrong with its template: then the standard text is used, for
    a message in other words is better than none."""
    try:
        title = " ".join(render(template.title, values).split())[:MAX_TITLE] if template.title else usual.title
        text = render(template.text, values) if template.text else usual.text
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        return usual, f"the template failed, the standard text was sent: {type(error).__name__}: {error}"[:500]
    return Worded(title or usual.title, text), ""


def template_values(
    tenant: str, kind: str, occurrence: Occurrence, usual: Worded, *, public_url: str, mentions: Sequence[str] = ()
) -> dict[str, Any]:
    """What a template can use: texts, numbers and short lists of them."""
    assets = [_asset(one, public_url) for one in occurrence.subjects[:MAX_SHOWN]]
    incident = {key: _text(value) for key, value in (occurrence.incident or {}).items()}
    return {
        "tenant": tenant,
        "kind": kind,
        "severity": occurrence.severity,
        "title": usual.title,
        "text": usual.text,
        "at": occurrence.at,
        "by": _text(occurrence.by),
        "url": link_of(occurrence, public_url),
        "asset": assets[0] if assets else {},
        "assets": assets,
        "count": len(occurrence.subjects),
        "owners": sorted({one.owner for one in occurrence.subjects if one.owner})[:MAX_SHOWN],
        "tags": [_text(tag) for tag in occurrence.tags[:MAX_SHOWN]],
        "changed": [_text(name) for name in occurrence.changed[:MAX_SHOWN]],
        "incident": incident,
        "mentions": " ".join(f"@{name}" for name in mentions),  # the channel replaces names by handles
    }


def link_of(occurrence: Occurrence, public_url: str) -> str:
    """Where the thing itself is: the incident, else the asset if there is one."""
    if occurrence.incident_id:
        return incident_url(public_url, occurrence.incident_id)
    return asset_url(public_url, occurrence.subjects[0].id) if occurrence.subjects else public_url


def _asset(subject: Subject, public_url: str) -> dict[str, str]:
    return {
        "id": subject.id,
        "name": subject.qualified_name or subject.id,
        "entity_type": subject.entity_type,
        "owner": subject.owner,
        "url": asset_url(public_url, subject.id),
    }


def _lines(occurrence: Occurrence, names: Sequence[str]) -> list[str]:
    lines, incident = [], occurrence.incident
    if incident:
        if occurrence.kinds[0].startswith("risk.") and (title := _text(incident.get("title"))):
            lines.append(f"Incident: {title}")  # the title of the message names the assets instead
        by = f", {_text(incident.get('source'))} {_text(incident.get('external_id'))}"
        lines.append(f"{occurrence.severity}, {_text(incident.get('state'))}{by}")
        if description := _text(incident.get("description")):
            lines.append(description)
        if url := _text(incident.get("url")):
            lines.append(url)
    if occurrence.changed:
        lines.append(f"changed: {', '.join(occurrence.changed[:MAX_LINES])}")
    if occurrence.by:
        lines.append(f"by {_text(occurrence.by)}")
    lines += [f"- {name}" for name in names[:MAX_LINES]]
    if len(names) > MAX_LINES:
        lines.append(f"and {len(names) - MAX_LINES} more assets")
    return lines


def _tag_list(kind: str, occurrence: Occurrence) -> str:
    return f"{', '.join(occurrence.tags[:MAX_LINES])} on " if kind.startswith("tag.") and occurrence.tags else ""


def _count(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _text(value: Any) -> str:
    return "" if value is None else str(value)[:MAX_VALUE]
