"""The messages of a job: what each says, and which deliveries it settles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lily.notify.digests import digest, highest
from lily.notify.mentions import mentioned
from lily.notify.occurrence_codec import decoded
from lily.notify.subscriptions import OWNERS, Subscription
from lily.notify.wording import MAX_SHOWN, Worded, link_of, standard, template_values, worded
from lily.plugins import Mention, Notification
from lily.store.postgres.deliveries.ledger import StoredChannel, Taken


@dataclass(frozen=True, slots=True)
class Message:
    """`deliveries` are settled by it, its lead first. `problem` is what was wrong with the template."""

    notification: Notification
    deliveries: tuple[Taken, ...]
    problem: str = ""

    @property
    def lead(self) -> Taken:
        return self.deliveries[0]

    @property
    def thread(self) -> str:
        """The incident, or the message itself. Messages of one thread are sent one after the other."""
        return str(self.notification.data.get("incident_id") or self.notification.id)

    @property
    def has_thread(self) -> bool:
        return "incident_id" in self.notification.data

    def continuing(self, previous: str) -> "Message":
        data = {**self.notification.data, "previous": previous}
        return replace(self, notification=replace(self.notification, data=data))


@dataclass(frozen=True, slots=True)
class Composer:
    """Words messages for one channel of one tenant."""

    tenant: str
    channel: StoredChannel
    public_url: str
    handles: Mapping[str, Mapping[str, str]]
    subscriptions: dict[str, Subscription] = field(default_factory=dict)  # read so far, by id

    def messages(self, taken: Sequence[Taken]) -> list[Message]:
        """One for each delivery, and one for all that are sent together."""
        groups: dict[str, list[Taken]] = {}
        for one in taken:
            groups.setdefault(one.lead or one.id, []).append(one)
        return [self._message(sorted(group, key=lambda one: one.lead is not None)) for group in groups.values()]

    def _message(self, group: Sequence[Taken]) -> Message:
        parts = [self._part(one) for one in group]
        if len(parts) == 1:
            return Message(parts[0][0], tuple(group), parts[0][1])
        notifications, problem = [part for part, _ in parts], next((found for _, found in parts if found), "")
        title, text = digest([Worded(part.title, part.text) for part in notifications])
        first = notifications[0]
        together = replace(
            first,
            id=group[0].id,
            severity=highest([part.severity for part in notifications]),
            title=title,
            text=text,
            url=self.public_url,
            assets=tuple(dict.fromkeys(name for part in notifications for name in part.assets))[:MAX_SHOWN],
            mentions=tuple({mention.name: mention for part in notifications for mention in part.mentions}.values()),
            data={"notifications": [part.id for part in notifications]},
        )
        return Message(together, tuple(group), problem)

    def _part(self, one: Taken) -> tuple[Notification, str]:
        subscription = self.subscriptions.get(one.subscription)
        if subscription is None:
            subscription = self.subscriptions[one.subscription] = Subscription.model_validate(one.body)
        occurrence = decoded(one.event, one.assets)
        owners = () if subscription.destination == OWNERS else one.owners
        handles = mentioned(self.handles, owners, self.channel.name, self.channel.type)
        (title, text), problem = standard(one.kind, occurrence), ""
        if subscription.template is not None:
            usual = Worded(title, text)
            values = template_values(
                self.tenant, one.kind, occurrence, usual, public_url=self.public_url, mentions=list(handles)
            )
            (title, text), problem = worded(subscription.template, usual, values)
        notification = Notification(
            one.notification,
            self.tenant,
            one.kind,
            occurrence.severity,
            title,
            text,
            occurrence.at,
            link_of(occurrence, self.public_url),
            tuple(subject.qualified_name or subject.id for subject in occurrence.subjects[:MAX_SHOWN]),
            self._data(one, occurrence.incident),
            tuple(Mention(name, handle) for name, handle in handles.items()),
        )
        return notification, problem

    @staticmethod
    def _data(one: Taken, incident: Mapping[str, Any] | None) -> dict[str, Any]:
        data: dict[str, Any] = {"event": one.event["event_id"], "subscription": one.subscription}
        if incident:
            data |= {"incident_id": incident["incident_id"], "state": incident.get("state", ""), "previous": ""}
        return data
