"""The plug-in: one message per notification, to the incoming webhook of a Slack channel."""

from pydantic import Field, SecretStr

from lily.connect.channels.destinations import DestinationsConfig, chosen, endpoints, secret_parts
from lily.connect.channels.http import Vendor
from lily.connect.channels.slack.blocks import message
from lily.connect.channels.texts import encoded
from lily.outbound import Endpoint, Request, Response
from lily.plugins import Notification, Surroundings

ACCEPTED = b"ok"
# What Slack calls an empty message. It says so only to a webhook that works.
EMPTY = ("no_text", "missing_text_or_fallback_or_attachments", "invalid_payload")
REVOKED = "The webhook URL was revoked: create a new one in Slack and update the channel."
REMEDIES = {
    "no_service": REVOKED,
    "no_active_hooks": REVOKED,
    "invalid_token": REVOKED,
    "no_team": REVOKED,
    "channel_not_found": "The Slack channel was deleted: create a webhook for another one and update the channel.",
    "channel_is_archived": "The Slack channel is archived: restore it, or create a webhook for another one.",
    "action_prohibited": "An administrator of the workspace restricts the webhook: permit it to post there.",
    "posting_to_general_channel_denied": "The workspace restricts #general: create a webhook for another channel.",
    "user_not_found": "A mentioned user is not in the workspace: correct the mention.",
}


class SlackConfig(DestinationsConfig):
    signing_secret: SecretStr | None = Field(
        None, description="of the Slack app: messages about open incidents then have a button that acknowledges"
    )


class Slack:
    Config = SlackConfig

    def __init__(self, config: SlackConfig) -> None:
        self._destinations = config.destinations
        self._is_acknowledgeable = config.signing_secret is not None
        self._slack = Vendor("Slack", config, _remedy, secret_parts(config.destinations))

    def situate(self, surroundings: Surroundings) -> None:
        self._slack.situate(surroundings, *endpoints(self._destinations))

    async def check(self, destination: str) -> None:
        """Posts an empty message, which Slack refuses in another way than an unknown webhook."""
        to = chosen(self._destinations, destination)
        response = await self._slack.tried(to, _request(to, b"{}"))
        if response.status == 400 and response.excerpt in EMPTY:
            return
        if (error := self._slack.refusal(response)) is not None:
            raise error
        raise self._slack.garbage(response)

    async def deliver(self, notification: Notification, destination: str) -> str:
        """Returns nothing: an incoming webhook does not return the message's id."""
        to = chosen(self._destinations, destination)
        body = encoded(message(notification, acknowledgeable=self._is_acknowledgeable))
        response = await self._slack.call(to, _request(to, body))
        if response.body.strip() != ACCEPTED:
            raise self._slack.garbage(response)
        return ""

    async def close(self) -> None:
        await self._slack.close()


def _request(to: Endpoint, body: bytes) -> Request:
    return Request("POST", to.target, body, {"content-type": "application/json; charset=utf-8"}, once=True)


def _remedy(response: Response) -> str:
    if response.excerpt in REMEDIES:
        return REMEDIES[response.excerpt]
    return REVOKED if response.status in {403, 404, 410} else "Report it: Slack does not accept the message."
