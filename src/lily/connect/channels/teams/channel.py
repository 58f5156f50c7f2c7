"""The plug-in: one card per notification, to the URL of a workflow (*Post to a channel when a webhook request is
received*)."""

from lily.connect.channels.destinations import DestinationsConfig, chosen, endpoints, secret_parts
from lily.connect.channels.http import Vendor
from lily.connect.channels.teams.card import message
from lily.connect.channels.texts import encoded
from lily.outbound import Request, Response
from lily.plugins import Notification, Surroundings

REMEDIES = {
    400: "The workflow does not expect an Adaptive Card: create it from the template for webhook requests.",
    413: "The card is too large: shorten the subscription's template.",
}
REVOKED = "The workflow was deleted, turned off or its URL replaced: copy its present URL and update the channel."


class TeamsConfig(DestinationsConfig):
    """Nothing but the destinations."""


class Teams:
    Config = TeamsConfig

    def __init__(self, config: TeamsConfig) -> None:
        self._destinations = config.destinations
        self._teams = Vendor("Teams", config, _remedy, secret_parts(config.destinations))

    def situate(self, surroundings: Surroundings) -> None:
        self._teams.situate(surroundings, *endpoints(self._destinations))

    async def check(self, destination: str) -> None:
        """Only connects: a workflow has no call that posts nothing."""
        await self._teams.reach(chosen(self._destinations, destination))

    async def deliver(self, notification: Notification, destination: str) -> str:
        """Returns nothing: a workflow responds before it posts."""
        to = chosen(self._destinations, destination)
        body = encoded(message(notification))
        await self._teams.call(to, Request("POST", to.target, body, {"content-type": "application/json"}, once=True))
        return ""

    async def close(self) -> None:
        await self._teams.close()


def _remedy(response: Response) -> str:
    return REMEDIES.get(response.status, REVOKED)
