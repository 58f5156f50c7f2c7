"""The plug-in: the destination is the requester's mail address. An incident is one ticket, found by its tag."""

from pydantic import Field, SecretStr

from lily.connect.channels.addresses import is_address
from lily.connect.channels.freshdesk.tickets import Json, Tickets
from lily.connect.channels.markup import html_of
from lily.connect.channels.sites import Site, SiteConfig
from lily.connect.channels.subjects import incident_of, label, title_of
from lily.connect.channels.texts import shortened
from lily.model.errors import Terminal
from lily.outbound import Response
from lily.plugins import Notification, Surroundings

MAX_SUBJECT, MAX_TAG = 255, 32
PRIORITIES = {"info": 1, "warning": 2, "critical": 4}  # low, medium, urgent
OPEN, PENDING, SOLVED = 2, 3, 4
STATUSES = {"open": OPEN, "acknowledged": PENDING, "resolved": SOLVED}
REMEDIES = {
    400: "Correct the channel: Freshdesk may require fields of a ticket that Lily does not set.",
    401: "The API key is not valid any more: copy the agent's present one and update the channel.",
    403: "The agent may not do this: grant it the privilege, or use another agent's key.",
    404: "The site or the ticket does not exist: correct `site`, or restore the ticket.",
}


class FreshdeskConfig(SiteConfig):
    key: SecretStr = Field(description="the API key of an agent")
    group_id: int | None = Field(None, description="the group that new tickets are assigned to")


class Freshdesk:
    Config = FreshdeskConfig

    def __init__(self, config: FreshdeskConfig) -> None:
        self._group = {} if config.group_id is None else {"group_id": config.group_id}
        self._site = Site("Freshdesk", config, config.key.get_secret_value(), "X", _remedy)
        self._tickets = Tickets(self._site)

    def situate(self, surroundings: Surroundings) -> None:
        self._site.situate(surroundings)

    async def check(self, destination: str) -> None:
        _requester(destination)
        await self._tickets.check()

    async def deliver(self, notification: Notification, destination: str) -> str:
        """Returns the ticket's id. A repeated first delivery finds the ticket that it opened and adds nothing to it."""
        requester, incident = _requester(destination), incident_of(notification)
        if incident.previous.isdecimal():
            return await self._changed(incident.previous, notification)
        found = await self._tickets.find(requester, tags(notification)[0])
        if found is None:
            return await self._tickets.create(self._ticket(notification, requester))
        is_repeat = label(notification.id, MAX_TAG) in found.tags
        return found.id if is_repeat else await self._changed(found.id, notification)

    async def close(self) -> None:
        await self._site.close()

    async def _changed(self, id_: str, notification: Notification) -> str:
        """The note is last, because it is the step that cannot be repeated without an effect."""
        await self._tickets.update(id_, _progress(notification))
        title = shortened(title_of(notification), MAX_SUBJECT)
        await self._tickets.add_note(id_, html_of(notification, title))
        return id_

    def _ticket(self, notification: Notification, requester: str) -> Json:
        return {
            "subject": shortened(title_of(notification), MAX_SUBJECT),
            "description": html_of(notification),
            "email": requester,
            "tags": tags(notification),
            "status": OPEN,
            **_progress(notification),
            **self._group,
        }


def tags(notification: Notification) -> list[str]:
    """That of the incident, and that of the notification which opened the ticket."""
    ids = [incident_of(notification).id, notification.id]
    return [label(id_, MAX_TAG) for id_ in ids if id_]


def _progress(notification: Notification) -> Json:
    """What is not known of the incident stays as it is in the ticket."""
    state = incident_of(notification).state
    stated = {"status": STATUSES[state]} if state in STATUSES else {}
    return {**stated, "priority": PRIORITIES[notification.severity]}


def _requester(destination: str) -> str:
    if not is_address(destination):
        raise Terminal(f"the destination {destination!r} is not the mail address of a requester.")
    return destination


def _remedy(response: Response) -> str:
    return REMEDIES.get(response.status, "Correct the channel, then replay the dead letter.")
