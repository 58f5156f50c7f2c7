"""The judgement of an asset by a policy: what is wrong with it now.

A finding is identified by its policy, its asset and its `cause`. As long as the cause is found, it is the same finding,
so nothing is reported twice; when it is no longer found, the finding closes. docs/how-to/watch-usage.md has the
definitions with their edge cases.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from lily.quality.days import Calendar
from lily.quality.policies import PolicyType, QualityPolicy
from lily.quality.subjects import Subject, applies


class Finding(NamedTuple):
    """`since` is when the change came that caused it, where it is a change."""

    cause: str
    title: str
    since: datetime | None = None


class Usual(NamedTuple):
    """The queries of a number of days. Compared without division: 15 % more than 100 is exactly 115."""

    queries: int
    days: int

    @property
    def mean(self) -> float:
        return self.queries / self.days

    def exceeded_by(self, queries: int, percent: float) -> bool:
        """Whether so many queries are more than the mean and so many percent of it."""
        return queries * self.days * 100 > self.queries * (100 + percent)

    def missed_by(self, queries: int, percent: float) -> bool:
        """Whether so many queries are less than the mean without so many percent of it."""
        return queries * self.days * 100 < self.queries * (100 - percent)


Judgement = Callable[[QualityPolicy, Subject, Calendar], Iterator[Finding]]


def judge(policy: QualityPolicy, subject: Subject, now: datetime) -> list[Finding]:
    """What the policy finds at a moment, one finding per cause."""
    if not applies(policy, subject):
        return []
    if subject.deleted_at is not None and policy.policy_type not in _OF_DELETED:
        return []
    found = _RULES[policy.policy_type](policy, subject, Calendar.at(now, policy.delay_hours))
    return list({finding.cause: finding for finding in found}.values())


def _deviation(policy: QualityPolicy, subject: Subject, calendar: Calendar) -> Iterator[Finding]:
    for day in (calendar.complete, *calendar.partial):
        usual = _usual(policy, subject, calendar, day)
        if usual is not None and usual.exceeded_by(subject.on(day), policy.threshold):
            yield Finding("above", _compared(subject, day, usual))
            break
    yield from _fall(policy, subject, calendar)


def _fall(policy: QualityPolicy, subject: Subject, calendar: Calendar) -> Iterator[Finding]:
    """The newest complete day is compared. If a partial day already has as many queries as it needs, it is over."""
    usual = _usual(policy, subject, calendar, calendar.complete)
    if usual is None or not usual.missed_by(subject.on(calendar.complete), policy.threshold):
        return
    for day in calendar.partial:
        now_usual = _usual(policy, subject, calendar, day)
        if now_usual is not None and not now_usual.missed_by(subject.on(day), policy.threshold):
            return
    yield Finding("below", _compared(subject, calendar.complete, usual))


def _spike(policy: QualityPolicy, subject: Subject, calendar: Calendar) -> Iterator[Finding]:
    for day in (*reversed(calendar.partial), calendar.complete):
        if subject.on(day) > policy.threshold:
            limit = f"more than {policy.threshold:,.0f}"
            yield Finding("spike", f"{subject.name}: {subject.on(day):,} queries on {day}, {limit}")
            return


def _unused(policy: QualityPolicy, subject: Subject, calendar: Calendar) -> Iterator[Finding]:
    if _is_unused(policy, subject, calendar):
        yield Finding("unused", f"{subject.name}: not queried for {policy.threshold:.0f} days{_last(subject)}")


def _orphaned(policy: QualityPolicy, subject: Subject, calendar: Calendar) -> Iterator[Finding]:
    if not subject.downstream and _is_unused(policy, subject, calendar):
        unused = f"not queried for {policy.threshold:.0f} days{_last(subject)}"
        yield Finding("orphaned", f"{subject.name}: nothing is derived from it, and it was {unused}")


def _deleted(_: QualityPolicy, subject: Subject, __: Calendar) -> Iterator[Finding]:
    if subject.deleted_at is not None:
        yield Finding("deleted", f"{subject.name}: deleted", subject.deleted_at)


def _dropped(policy: QualityPolicy, subject: Subject, calendar: Calendar) -> Iterator[Finding]:
    recent = (*calendar.before(calendar.today, policy.days), *calendar.partial)
    queries = sum(subject.on(day) for day in recent)
    users = [
        *([f"{subject.downstream:,} assets derived from it"] if subject.downstream else []),
        *([f"{queries:,} queries in {policy.days} days"] if queries else []),
    ]
    if users and subject.deleted_at is not None:
        yield Finding("dropped", f"{subject.name}: dropped, with {' and '.join(users)}", subject.deleted_at)
    elif users and subject.private_at is not None:
        yield Finding("private", f"{subject.name}: made private, with {' and '.join(users)}", subject.private_at)


_RULES: Mapping[PolicyType, Judgement] = {
    "query_count_deviation": _deviation,
    "query_spike": _spike,
    "unused_for_x_days": _unused,
    "deleted_asset": _deleted,
    "column_dropped": _dropped,
    "traffic_drop": _fall,
    "orphaned_asset": _orphaned,
}
_OF_DELETED: frozenset[PolicyType] = frozenset({"deleted_asset", "column_dropped"})


def _usual(policy: QualityPolicy, subject: Subject, calendar: Calendar, day: date) -> Usual | None:
    """Of the complete days before a day; None if there is nothing to compare with: the asset was not reported that
    long, had no query at all (no share of zero is defined), or fewer than the policy's minimum."""
    days = calendar.before(day, policy.days)
    if subject.first_used is None or subject.first_used > days[-1]:
        return None
    usual = Usual(sum(subject.on(one) for one in days), len(days))
    return usual if usual.queries > 0 and usual.mean >= policy.minimum else None


def _is_unused(policy: QualityPolicy, subject: Subject, calendar: Calendar) -> bool:
    """Not queried on so many complete days nor since. Unknown if the asset is younger than that, if the tenant has not
    reported usage for so long, or if it reports none any more."""
    last = calendar.complete - timedelta(days=policy.threshold)  # the last day on which a query does not count
    if subject.created is None or subject.created > last or subject.reported is None:
        return False
    if subject.reported.first > last or subject.reported.last <= last:
        return False
    return subject.last_used is None or subject.last_used <= last


def _compared(subject: Subject, day: date, usual: Usual) -> str:
    queries, mean = subject.on(day), usual.mean
    share, side = abs(queries - mean) / mean * 100, "below" if queries < mean else "above"
    before = f"the mean of the {usual.days} days before ({mean:,.0f})"
    return f"{subject.name}: {queries:,} queries on {day}, {share:,.0f} % {side} {before}"


def _last(subject: Subject) -> str:
    return "" if subject.last_used is None else f", last on {subject.last_used}"
