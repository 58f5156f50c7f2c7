"""A receiver of webhooks in a process of its own: it counts what arrives, and fails where it is told to."""

import asyncio
import multiprocessing
import multiprocessing.connection
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

OK = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"
FAILED = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"


class Arrived(NamedTuple):
    """Of one path: calls, what was accepted and when last, and the ids that were accepted."""

    calls: int
    accepted: int
    last: float
    ids: frozenset[str]
    delays: list[float]  # from the event's time to its arrival, in the order of arrival


class Target:
    """The parent's side."""

    def __init__(self, connection: multiprocessing.connection.Connection, port: int) -> None:
        self._connection, self.url = connection, f"http://127.0.0.1:{port}"

    def fail(self, *paths: str) -> None:
        """From now on these paths respond 500, all others work."""
        self._ask("fail", paths)

    def arrived(self, path: str) -> Arrived:
        return Arrived(*self._ask("arrived", path))

    def _ask(self, what: str, about: Any) -> Any:
        self._connection.send((what, about))
        return self._connection.recv()


class _Receiver:
    def __init__(self) -> None:
        self.failing: frozenset[str] = frozenset()
        self.calls: dict[str, int] = {}
        self.ids: dict[str, set[str]] = {}
        self.accepted: dict[str, int] = {}
        self.last: dict[str, float] = {}
        self.delays: dict[str, list[float]] = {}

    def take(self, path: str, headers: dict[str, str]) -> bytes:
        self.calls[path] = self.calls.get(path, 0) + 1
        if path in self.failing:
            return FAILED
        self.accepted[path] = self.accepted.get(path, 0) + 1
        self.ids.setdefault(path, set()).add(headers.get("webhook-id", ""))
        self.last[path] = time.time()
        self.delays.setdefault(path, []).append(self.last[path])
        return OK

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                pairs = (line.partition(":") for line in head[1:] if line)
                headers = {name.lower(): value.strip() for name, _, value in pairs}
                await reader.readexactly(int(headers.get("content-length", "0")))
                writer.write(self.take(head[0].split(" ")[1].lstrip("/"), headers))
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            writer.close()

    def answer(self, what: str, about: Any) -> Any:
        if what == "fail":
            self.failing = frozenset(about)
            return None
        return (
            self.calls.get(about, 0),
            self.accepted.get(about, 0),
            self.last.get(about, 0.0),
            frozenset(self.ids.get(about, ())),
            self.delays.get(about, []),
        )


def _run(connection: multiprocessing.connection.Connection) -> None:
    async def run() -> None:
        receiver = _Receiver()
        server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
        connection.send(server.sockets[0].getsockname()[1])
        ended = asyncio.Event()

        def asked() -> None:
            try:
                connection.send(receiver.answer(*connection.recv()))
            except EOFError:
                ended.set()

        asyncio.get_running_loop().add_reader(connection.fileno(), asked)
        await ended.wait()

    asyncio.run(run())


@contextmanager
def notification_target() -> Iterator[Target]:
    """Ends with its parent's side of the pipe."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    try:
        yield Target(ours, ours.recv())
    finally:
        ours.close()
        process.join(10)
