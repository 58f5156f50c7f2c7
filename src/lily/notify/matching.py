"""Whether a subscription matches an event, and for each filter why it does or does not."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from lily.model import ids
from lily.model.assets import tag_key
from lily.notify.events import Occurrence, Severity, Subject, at_least, rule_kinds, severity_of
from lily.notify.kinds import OF_OWN_ASSETS, first_match
from lily.notify.subscriptions import Filters

MAX_QUOTED = 5  # values that a reason names
BELOW = ", or what is below by its `parent`"


class Finding(NamedTuple):
    """What one filter made of an event."""

    filter: str
    matched: bool
    reason: str


class Match(NamedTuple):
    """`kind` is the one of the event's kinds that matched, `subjects` the assets that did."""

    matched: bool
    kind: str
    subjects: tuple[Subject, ...]
    findings: tuple[Finding, ...]


def fold(name: str) -> str:
    """Owners and entity types compare without case."""
    return name.casefold()


class Matcher:
    """A subscription's filters, resolved once: names of assets are their ids."""

    def __init__(self, tenant: str, filters: Filters) -> None:
        self._filters = filters
        self._assets = {ids.resolve(tenant, one) for one in filters.assets}
        self._upstream = {ids.resolve(tenant, one) for one in filters.downstream_of}
        self._tags = {tag_key(tag) for tag in filters.tags}
        self._types = {fold(kind) for kind in filters.entity_types}
        self._owners = {fold(owner) for owner in filters.owners}

    def match(self, occurrence: Occurrence) -> Match:
        kind = first_match(self._filters.patterns, occurrence.kinds)
        findings = [_kind_finding(self._filters, occurrence, kind), *self._severity(occurrence.severity)]
        subjects = occurrence.subjects
        for name, wanted, holds in self._tests():
            passing = [subject for subject in occurrence.subjects if holds(subject)]
            findings.append(_finding(name, wanted, passing, occurrence.subjects))
            subjects = tuple(subject for subject in subjects if holds(subject))
        restricted = any(True for _ in self._tests())
        if restricted and not subjects and all(one.matched for one in findings):
            findings.append(Finding("all", False, "no single asset of the event satisfies all of the filters"))
        if occurrence.own and self._is_reported(occurrence):
            own = [one for one in subjects if one.id in occurrence.own]
            findings += [_own_finding(own, subjects)] if own else []
            subjects = tuple(one for one in subjects if one.id not in occurrence.own)
        matched = all(one.matched for one in findings)
        return Match(matched, kind or occurrence.kinds[0], subjects if matched else (), tuple(findings))

    def _is_reported(self, risk: Occurrence) -> bool:
        """Whether the incident's own events notify of the assets that it concerns itself: then the risk need not."""
        incident, kinds = risk.incident or {}, OF_OWN_ASSETS.get(risk.kinds[0], ())
        wanted = (first_match(self._filters.patterns, (kind, *rule_kinds(incident))) for kind in kinds)
        severity = self._severity(severity_of(incident.get("severity")))
        return bool(kinds) and all(wanted) and all(one.matched for one in severity)

    def _severity(self, severity: Severity) -> Iterator[Finding]:
        filters = self._filters
        if filters.severities:
            matched = severity in filters.severities
            yield Finding("severities", matched, f"the event is {severity}; wanted: {', '.join(filters.severities)}")
        if filters.min_severity:
            matched = at_least(severity, filters.min_severity)
            yield Finding("min_severity", matched, f"the event is {severity}; wanted: at least {filters.min_severity}")

    def _tests(self) -> Iterator[tuple[str, str, Callable[[Subject], bool]]]:
        filters = self._filters
        if self._assets:
            yield "assets", _quoted(filters.assets) + (BELOW if filters.descendants else ""), self._is_asset
        if self._upstream:
            yield "downstream_of", _quoted(filters.downstream_of), self._is_downstream
        if self._tags:
            yield "tags", _quoted(filters.tags), lambda subject: not self._tags.isdisjoint(subject.tags)
        if self._types:
            yield (
                "entity_types",
                _quoted(filters.entity_types),
                lambda subject: fold(subject.entity_type) in self._types,
            )
        if self._owners:
            yield (
                "owners",
                _quoted(filters.owners),
                lambda subject: not self._owners.isdisjoint(self._owners_of(subject)),
            )

    def _is_asset(self, subject: Subject) -> bool:
        below = self._filters.descendants and not self._assets.isdisjoint(subject.ancestors)
        return subject.id in self._assets or below

    def _is_downstream(self, subject: Subject) -> bool:
        return not self._upstream.isdisjoint(subject.upstream)

    def _owners_of(self, subject: Subject) -> set[str]:
        return {fold(owner) for owner in owners_of(subject, self._filters)}


def owners_of(subject: Subject, filters: Filters) -> set[str]:
    """The owner of the asset, and with `downstream_owners` those of what lies downstream of it."""
    own = {subject.owner} if subject.owner else set()
    return own | subject.downstream_owners if filters.downstream_owners else own


def _kind_finding(filters: Filters, occurrence: Occurrence, kind: str | None) -> Finding:
    wanted = _quoted(filters.patterns) + ("" if filters.kinds else " (the default)")
    return Finding("kinds", kind is not None, f"the event is {' and '.join(occurrence.kinds)}; wanted: {wanted}")


def _own_finding(own: Sequence[Subject], subjects: Sequence[Subject]) -> Finding:
    shown = _quoted([one.qualified_name or one.id for one in own])
    reason = f"{len(own)} of {len(subjects)} assets are left out, because events of the incident itself report them"
    return Finding("own_assets", len(own) < len(subjects), f"{reason}: {shown}")


def _finding(name: str, wanted: str, passing: Sequence[Subject], subjects: Sequence[Subject]) -> Finding:
    if not subjects:
        return Finding(name, False, "the event names no asset that Lily knows")
    if passing:
        shown = _quoted([one.qualified_name or one.id for one in passing])
        return Finding(name, True, f"{len(passing)} of {len(subjects)} assets match: {shown}")
    return Finding(name, False, f"{_found(name, subjects)}; wanted: {wanted}")


def _found(name: str, subjects: Sequence[Subject]) -> str:
    values: dict[str, Callable[[Subject], set[str]]] = {
        "tags": lambda one: set(one.tags),
        "entity_types": lambda one: {one.entity_type} - {""},
        "owners": lambda one: {one.owner} - {""},
    }
    names = _quoted([one.qualified_name or one.id for one in subjects])
    if name not in values:
        return f"the event is about {names}"
    found = set().union(*(values[name](one) for one in subjects))
    return f"{names}: {_quoted(sorted(found)) if found else 'none'}"


def _quoted(values: Sequence[str]) -> str:
    shown = ", ".join(value[:200] for value in values[:MAX_QUOTED])
    return f"{shown} and {len(values) - MAX_QUOTED} more" if len(values) > MAX_QUOTED else shown
