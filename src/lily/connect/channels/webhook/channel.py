"""The plug-in: one signed message per notification. A receiver drops repeats by `webhook-id`."""

from pydantic import Field, SecretStr, model_validator

from lily.connect.channels.destinations import DestinationsConfig, chosen, endpoints, secret_parts
from lily.connect.channels.http import Vendor
from lily.connect.channels.messages import body_of
from lily.connect.signing import Secrets, signer
from lily.outbound import Request, Response, client_tls
from lily.plugins import Notification, Surroundings

HEADERS = {"content-type": "application/json", "user-agent": "lily-notifications"}
REMEDIES = {
    401: "The receiver does not accept the signature: give it the channel's secret.",
    403: "The receiver does not accept the signature or the client certificate: compare them.",
    404: "The URL is unknown to the receiver: correct it in the channel.",
    410: "Correct the receiver or the URL, then enable the destination again.",
    413: "The receiver takes no message of this size: shorten the subscription's template.",
}


class WebhookConfig(DestinationsConfig):
    secrets: Secrets
    certificate: str = Field("", description="of the client for mutual TLS, with its chain, in PEM")
    key: SecretStr = Field(SecretStr(""), description="of the certificate, in PEM, without a password")

    @model_validator(mode="after")
    def _identity_is_whole(self) -> "WebhookConfig":
        if bool(self.certificate) != bool(self.key.get_secret_value()):
            raise ValueError("`certificate` and `key` belong together: set both or none")
        if self.certificate:
            client_tls(self.certificate, self.key.get_secret_value())
        return self


class Webhook:
    Config = WebhookConfig

    def __init__(self, config: WebhookConfig) -> None:
        key = config.key.get_secret_value()
        identity = client_tls(config.certificate, key) if config.certificate else None
        self._destinations, self._signer = config.destinations, signer(config.secrets)
        hidden = [*secret_parts(config.destinations), *(secret.get_secret_value() for secret in config.secrets)]
        self._receiver = Vendor("the receiver", config, _remedy, hidden, identity)

    def situate(self, surroundings: Surroundings) -> None:
        self._receiver.situate(surroundings, *endpoints(self._destinations))

    async def check(self, destination: str) -> None:
        """Only connects: the standard has no message that means nothing."""
        await self._receiver.reach(chosen(self._destinations, destination))

    async def deliver(self, notification: Notification, destination: str) -> str:
        """Returns nothing: any response of 2xx confirms. Raises DestinationGone for 410."""
        to, body = chosen(self._destinations, destination), body_of(notification)
        headers = HEADERS | self._signer.headers(notification.id, body)
        await self._receiver.call(to, Request("POST", to.target, body, headers))
        return ""

    async def close(self) -> None:
        await self._receiver.close()


def _remedy(response: Response) -> str:
    return REMEDIES.get(response.status, "Correct the receiver or the URL, then replay the dead letter.")
