"""A channel that posts everything it is given as JSON, for tests of what Lily makes of it."""

from typing import Any

import httpx
from pydantic import BaseModel, ConfigDict

from lily.model.errors import Terminal, Transient
from lily.plugins import DestinationGone, Notification


class NotifierConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    seconds: float = 5.0
    secret: str = ""


class Notifier:
    """A destination is an address. `Retry-After` is passed on, 410 ends the destination."""

    Config = NotifierConfig

    def __init__(self, config: NotifierConfig) -> None:
        self._http = httpx.AsyncClient(timeout=config.seconds)

    async def check(self, destination: str) -> None:
        """Anything may be a destination."""

    async def deliver(self, notification: Notification, destination: str) -> str:
        try:
            answer = await self._http.post(
                destination, json=_body(notification), headers={"Idempotency-Key": notification.id}
            )
        except httpx.HTTPError as error:
            raise Transient(f"the receiver does not respond: {type(error).__name__}") from error
        if answer.status_code == 410:
            raise DestinationGone("the receiver responded 410")
        if answer.status_code >= 500 or answer.status_code == 429:
            pause = answer.headers.get("retry-after")
            wanted = float(pause) if pause else None
            raise Transient(f"the receiver responded {answer.status_code}. It is tried again.", retry_after=wanted)
        if answer.status_code >= 400:
            raise Terminal(f"the receiver responded {answer.status_code}; correct the destination")
        return str(answer.headers.get("location", ""))

    async def close(self) -> None:
        await self._http.aclose()


def _body(notification: Notification) -> dict[str, Any]:
    return {
        "tenant": notification.tenant,
        "kind": notification.kind,
        "severity": notification.severity,
        "title": notification.title,
        "text": notification.text,
        "url": notification.url,
        "assets": list(notification.assets),
        "data": dict(notification.data),
        "mentions": [[one.name, one.handle] for one in notification.mentions],
    }
