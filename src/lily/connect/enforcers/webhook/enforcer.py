"""The plug-in: a plan is the messages about changed tables, applying it is posting them."""

from collections.abc import Sequence

from pydantic import Field

from lily.connect.enforcers.messages import messages, removed
from lily.connect.enforcers.messaging import Messaging
from lily.connect.enforcers.webhook.delivery import Delivery, headers, refusal
from lily.connect.signing import SigningConfig
from lily.connect.urls import Url
from lily.model.errors import Transient
from lily.outbound import Endpoint, Guard, Poster, endpoint
from lily.plugins import Failure, Plan, Surroundings


class WebhookConfig(SigningConfig):
    url: Url = Field(description="where messages are posted: https://…")
    seconds: float = Field(10.0, gt=0, le=60, description="for one message, from the connection to the response")
    connections: int = Field(4, ge=1, le=16, description="on which messages are posted at the same time")


class Webhook(Messaging):
    Config = WebhookConfig

    def __init__(self, config: WebhookConfig) -> None:
        super().__init__(config)
        self._config = config
        self._to: Endpoint = endpoint(config.url.get_secret_value())
        self._guard = Guard()

    def situate(self, surroundings: Surroundings) -> None:
        """Raises ForbiddenAddress."""
        super().situate(surroundings)
        self._guard = Guard(surroundings.allowed_networks)
        self._guard.permit(self._to)

    def apply(self, plan: Plan) -> Sequence[Failure]:
        """Posts the messages. Confirmed by a status of 2xx. Raises TargetGone for 410."""
        listed = list(messages(plan.steps))
        delivery = Delivery(self._poster, self._signer, self._config.connections)
        return delivery.send(listed)

    def remove(self) -> None:
        message, poster = removed(self.place), self._poster()
        try:
            response = poster.post(message.body, headers(self._signer, message))
        finally:
            poster.close()
        if error := refusal(response):
            raise Transient(error)

    def _poster(self) -> Poster:
        return Poster(self._to, self._guard, self._config.seconds)
