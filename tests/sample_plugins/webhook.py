"""A channel that posts JSON, and the receiver that it posts to."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from pydantic import BaseModel, ConfigDict, SecretStr

from lily.model.errors import Terminal, Transient
from lily.plugins import Notification
from tests.threads import in_thread


class WebhookConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    seconds: float = 5.0
    token: SecretStr = SecretStr("")


class Webhook:
    Config = WebhookConfig

    def __init__(self, config: WebhookConfig) -> None:
        self._token = config.token.get_secret_value()
        self._http = httpx.AsyncClient(timeout=config.seconds)

    async def check(self, destination: str) -> None:
        _raise_for((await self._call("HEAD", destination, "", {})).status_code)

    async def deliver(self, notification: Notification, destination: str) -> str:
        body = {"title": notification.title, "text": notification.text, "assets": list(notification.assets)}
        answer = await self._call("POST", destination, notification.id, body)
        _raise_for(answer.status_code)
        return str(answer.headers.get("location", ""))

    async def close(self) -> None:
        await self._http.aclose()

    async def _call(self, method: str, destination: str, key: str, body: dict[str, Any]) -> httpx.Response:
        headers = {"Idempotency-Key": key, "Authorization": f"Bearer {self._token}"}
        try:
            return await self._http.request(method, destination, json=body, headers=headers)
        except httpx.HTTPError as error:
            raise Transient(f"{destination} does not answer: {error!r}") from error


def _raise_for(status: int) -> None:
    if status >= 500 or status == 429:
        raise Transient(f"the receiver answered {status}")
    if status >= 400:
        raise Terminal(f"the receiver answered {status}; correct the destination")


class Receiver:
    """`/ok` takes a message, `/busy` answers 503, anything else 404."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.messages: list[str] = []


@contextmanager
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.path == "/ok":
                found.messages.append(f"{self.headers['Idempotency-Key']}\n{body}")
            self._answer()

        def do_HEAD(self) -> None:
            self._answer()

        def _answer(self) -> None:
            self.send_response({"/ok": 204, "/busy": 503}.get(self.path, 404))
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            """Quiet."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # connections that wait to be accepted; the suite opens many at a time

    with Server(("127.0.0.1", 0), Handler) as server:
        found = Receiver(f"http://127.0.0.1:{server.server_port}")
        with in_thread(partial(server.serve_forever, 0.02), server.shutdown):
            yield found
