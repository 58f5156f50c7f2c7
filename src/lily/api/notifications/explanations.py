"""Why an event was sent to a subscription or not, with the code by which the worker decides."""

from datetime import UTC, datetime
from typing import Any

from lily.api.calls import HttpCall
from lily.notify.events import Occurrence
from lily.notify.matching import Finding, Match
from lily.notify.mutes import muting
from lily.notify.quiet_hours import quiet_until
from lily.store.postgres.notifications.explained import Found, read_events
from lily.store.postgres.notifications.panel import read_deliveries
from lily.store.postgres.notifications.subjects import with_facts
from lily.store.postgres.subscriptions.configuration import Configuration, Stored, read_configuration

SENT = {
    "waiting": "it waits to be sent",
    "held": "it is held",
    "grouped": "it is sent together with others",
    "delivered": "it was delivered",
    "failed": "it could not be delivered",
    "suppressed": "it was not sent",
}


class Explaining:
    """One subscription and some events, as of now: what is known of the assets may have changed since."""

    def __init__(self, call: HttpCall, configuration: Configuration, stored: Stored) -> None:
        self._call, self._configuration, self._stored = call, configuration, stored

    async def explained(self, found: Found, occurrence: Occurrence) -> dict[str, Any]:
        match = self._stored.matcher.match(occurrence)
        deliveries = await self._deliveries(found.notification)
        mute = muting(self._configuration.mutes, occurrence, datetime.now(UTC))
        quiet = quiet_until(self._stored.subscription.quiet_hours, occurrence.severity, datetime.now(UTC))
        group = self._stored.subscription.group
        explained = {
            "event": occurrence.event_id,
            "notification": found.notification,
            "kind": match.kind,
            "at": occurrence.at,
            "matched": match.matched,
            "filters": [finding._asdict() for finding in self._findings(match, occurrence)],
            "mute": mute and mute.described(),
            "quiet_hours": quiet and f"now, until {quiet:%Y-%m-%dT%H:%M:%SZ}",
            "group": group and f"what matches within {group.seconds} seconds is one message",
            "deliveries": deliveries,
        }
        return explained | {"answer": self._answer(explained)}

    def _findings(self, match: Match, occurrence: Occurrence) -> list[Finding]:
        subscription = self._stored.subscription
        enabled = "the subscription is enabled" if subscription.enabled else "the subscription is disabled"
        since = f"the subscription exists since {self._stored.created_at}, the event is of {occurrence.at}"
        return [
            Finding("enabled", subscription.enabled, enabled),
            Finding("created", self._stored.created_at <= occurrence.at, since),
            *match.findings,
        ]

    def _answer(self, explained: dict[str, Any]) -> str:
        if explained["deliveries"]:
            return "; ".join(_of_delivery(one) for one in explained["deliveries"])
        for finding in explained["filters"]:
            if not finding["matched"]:
                return f"it was not sent: {finding['filter']}: {finding['reason']}"
        if explained["mute"]:
            return f"it was not sent: {explained['mute']}"
        return (
            "it matches now, but was not sent: what the filters look at has changed since, or it is yet to be handled"
        )

    async def _deliveries(self, notification: str | None) -> list[dict[str, Any]]:
        if notification is None:
            return []
        return await read_deliveries(self._call.services.database, self._call.tenant, notification, self._stored.id)


async def read_explained(
    call: HttpCall, subscription: str, event: str
) -> tuple[Explaining | None, list[tuple[Found, Occurrence]]]:
    """The explanation of a subscription, None if there is none; and the events with what is known of their assets."""
    database, tenant = call.services.database, call.tenant
    configuration = await read_configuration(database, tenant, disabled=True)
    stored = next((one for one in configuration.subscriptions if one.id == subscription), None)
    found = await read_events(database, tenant, event)
    facts = await with_facts(database, tenant, [one.occurrence for one in found], configuration)
    return stored and Explaining(call, configuration, stored), list(zip(found, facts, strict=True))


def _of_delivery(delivery: dict[str, Any]) -> str:
    where = f"to {delivery['destination']} over {delivery['channel']}"
    at = f" at {delivery['delivered_at']}" if delivery["delivered_at"] else ""
    why = delivery["error"] or delivery["reason"]
    tried = f" (attempts: {delivery['attempts']})" if delivery["state"] in {"waiting", "failed"} else ""
    return f"{SENT[delivery['state']]} {where}{at}{tried}" + (f": {why}" if why else "")
