"""Kinds of events that subscriptions name: `family.name`, or `family.*` for all of a family."""

from collections.abc import Iterable

INCIDENT = ("incident.opened", "incident.acknowledged", "incident.resolved", "incident.updated")
RISK = ("risk.at_risk", "risk.clear")
TAG = ("tag.tagged", "tag.untagged")
ASSET = ("asset.created", "asset.updated", "asset.deleted", "asset.restored")
KINDS = (*INCIDENT, *RISK, *TAG, *ASSET)

QUALITY = "quality"  # a family without a fixed list: its names are those of the quality rules
FAMILIES = ("incident", "risk", "tag", "asset", QUALITY)
DEFAULT = ("incident.*", "risk.*")  # without `kinds`: changes of assets and tags are many, and have to be named
# By kind of a risk: by which kinds an incident reports an asset that it concerns itself. The asset may be attached
# later, and the first message may state that the incident is acknowledged.
OF_OWN_ASSETS = {
    "risk.at_risk": ("incident.opened", "incident.acknowledged", "incident.updated"),
    "risk.clear": ("incident.resolved",),
}
_OF_CHANGES = (*TAG, *ASSET)  # what a change of an asset can be; the name is the change


def is_pattern(text: str) -> bool:
    family, _, name = text.partition(".")
    return text in KINDS or (family in FAMILIES and (name == "*" or (family == QUALITY and bool(name))))


def matches(pattern: str, kind: str) -> bool:
    return kind.startswith(pattern[:-1]) if pattern.endswith(".*") else pattern == kind


def first_match(patterns: Iterable[str], kinds: Iterable[str]) -> str | None:
    """The first of the kinds that a pattern matches; an event may be of several kinds."""
    wanted = tuple(patterns)
    return next((kind for kind in kinds if any(matches(pattern, kind) for pattern in wanted)), None)


def wanted_changes(patterns: Iterable[str]) -> frozenset[str]:
    """The changes of assets that the relay has to route for these patterns."""
    wanted = tuple(patterns)
    return frozenset(kind.partition(".")[2] for kind in _OF_CHANGES if first_match(wanted, [kind]))
