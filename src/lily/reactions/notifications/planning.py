"""What follows from events: notifications, deliveries and jobs. Pure, but for the groups that are open already."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from lily.notify.events import Occurrence, at_least
from lily.notify.identities import delivery_id, job_group, notification_id, target_of
from lily.notify.matching import Match, owners_of
from lily.notify.mentions import destinations
from lily.notify.mutes import muting
from lily.notify.quiet_hours import quiet_until
from lily.notify.subscriptions import Subscription
from lily.notify.wording import standard
from lily.store.postgres.jobs.queue import NewJob
from lily.store.postgres.notifications.ledger import NewDelivery, NewNotification
from lily.store.postgres.subscriptions.configuration import Configuration, Stored

TASK = "deliver"
BATCH = 100  # deliveries of one job: to one destination, each with a receipt of its own
MAX_OWNERS = 50  # that are mentioned


@dataclass(frozen=True, slots=True)
class Planned:
    notification: NewNotification
    deliveries: tuple[NewDelivery, ...]


def plan(tenant: str, configuration: Configuration, occurrences: Sequence[Occurrence], now: datetime) -> list[Planned]:
    """One for each event that a subscription matches. Incidents are always in the panel's list."""
    found = (_planned(tenant, configuration, one, now) for one in occurrences)
    return [one for one in found if one is not None]


def _planned(tenant: str, configuration: Configuration, occurrence: Occurrence, now: datetime) -> Planned | None:
    matches = [(one, one.matcher.match(occurrence)) for one in configuration.subscriptions]
    matches = [(one, match) for one, match in matches if match.matched]
    if not matches and not occurrence.kinds[0].startswith("incident."):
        return None
    kind = matches[0][1].kind if matches and not occurrence.incident else occurrence.kinds[0]
    mute = muting(configuration.mutes, occurrence, now)
    identity = notification_id(tenant, occurrence.event_id)
    notification = NewNotification(identity, occurrence, kind, *standard(kind, occurrence), mute is not None)
    taken: dict[str, Stored] = {}  # by target, the subscription that sends there
    deliveries: list[NewDelivery] = []
    for stored, match in matches:
        for one in _deliveries(identity, configuration, stored, match, occurrence, now):
            sender = taken.setdefault(one.target, stored)
            if mute is not None:
                deliveries.append(_suppressed(one, mute.described()))
            elif one.state != "suppressed" and sender is not stored:
                reason = f"already sent there by the subscription {sender.subscription.name}"
                deliveries.append(_suppressed(one, reason))
            else:
                deliveries.append(one)
    return Planned(notification, tuple(deliveries))


def _deliveries(  # noqa: PLR0917 - what a delivery follows from
    notification: str,
    configuration: Configuration,
    stored: Stored,
    match: Match,
    occurrence: Occurrence,
    now: datetime,
) -> Iterator[NewDelivery]:
    subscription, channel = stored.subscription, configuration.channel(stored.channel)
    owners = sorted({owner for one in match.subjects for owner in owners_of(one, subscription.filters)})[:MAX_OWNERS]
    found = destinations(subscription.destination, configuration.handles or {}, owners, channel.name, channel.type)
    everything = len(match.subjects) == len(occurrence.subjects)
    quiet = quiet_until(subscription.quiet_hours, occurrence.severity, now)
    for destination in found or [subscription.destination]:
        target = target_of(stored.channel, destination)
        planned = NewDelivery(
            delivery_id(notification, stored.id, target),
            notification,
            stored.id,
            stored.channel,
            destination,
            target,
            match.kind,
            "held" if quiet else "waiting",
            f"quiet hours until {quiet:%Y-%m-%dT%H:%M:%SZ}" if quiet else "",
            None if everything else [one.id for one in match.subjects],
            owners,
            occurrence.incident_id,
            due_at=quiet,
        )
        if not found:
            why = f"none of the owners ({', '.join(owners[:5]) or 'there are none'}) has a handle for {channel.name}"
            yield _suppressed(planned, f"{why}; add one with POST /mentions")
        elif subscription.group and not _interrupts(subscription, occurrence):
            closes = now + timedelta(seconds=subscription.group.seconds)
            yield replace(planned, is_lead=True, due_at=max(closes, quiet or closes))
        else:
            yield planned


def _interrupts(subscription: Subscription, occurrence: Occurrence) -> bool:
    """What is severe enough to be sent in quiet hours is not held for a group either."""
    hours = subscription.quiet_hours
    least = hours.except_severity if hours else None
    return least is not None and at_least(occurrence.severity, least)


def group_deliveries(deliveries: Sequence[NewDelivery], open_leads: Mapping[tuple[str, str], str]) -> list[NewDelivery]:
    """Those that could lead a group join the one that is open for their subscription and destination."""
    leads, grouped = dict(open_leads), []
    for one in deliveries:
        if not one.is_lead:
            grouped.append(one)
            continue
        lead = leads.setdefault((one.subscription, one.target), one.id)
        joined = replace(one, is_lead=False, lead=lead, state="grouped", reason=f"sent together with {lead}")
        grouped.append(one if lead == one.id else joined)
    return grouped


def jobs_of(deliveries: Sequence[NewDelivery]) -> list[NewJob]:
    """A job for the deliveries to one destination that are due at the same time, in the group of the destination."""
    due: dict[tuple[str, datetime | None], list[NewDelivery]] = {}
    for one in deliveries:
        if one.state in {"waiting", "held"}:
            due.setdefault((one.target, one.due_at), []).append(one)
    return [
        NewJob(TASK, arguments_of(some), job_group(target), run_at)
        for (target, run_at), listed in due.items()
        for some in (listed[start : start + BATCH] for start in range(0, len(listed), BATCH))
    ]


def arguments_of(deliveries: Sequence[NewDelivery]) -> dict[str, object]:
    first = deliveries[0]
    return {
        "channel": first.channel,
        "destination": first.destination,
        "target": first.target,
        "deliveries": [one.id for one in deliveries],
    }


def _suppressed(delivery: NewDelivery, reason: str) -> NewDelivery:
    return replace(delivery, state="suppressed", reason=reason, is_lead=False, due_at=None)
