"""A TCP proxy in front of a server that can be cut off: silently, as a partition does, or by closing everything."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

ACCEPTING_TURNS = 3  # of the loop, from a connection that was accepted to `accept`


class Proxy:
    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._open = asyncio.Event()
        self._open.set()
        self._refuses = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._opened: list[asyncio.StreamWriter] = []  # ever
        self.port = 0

    def hang(self) -> None:
        """From now on nothing passes, and no connection is closed."""
        self._open.clear()

    def resume(self) -> None:
        self._refuses = False
        self._open.set()

    def cut(self) -> None:
        """Closes all connections, and every new one at once."""
        self._refuses = True
        for writer in self._writers:
            writer.close()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Not a coroutine: a loop that ends cancels a task that has not begun, and its writer would stay open."""
        self._opened.append(writer)
        if self._refuses:
            writer.close()
            return
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there_writer: asyncio.StreamWriter | None = None
        try:
            there_reader, there_writer = await asyncio.open_connection(*self._target)
            self._opened.append(there_writer)
            self._writers |= {writer, there_writer}
            await asyncio.gather(self._pump(reader, there_writer), self._pump(there_reader, writer))
        except OSError:
            pass  # one of the two sides has gone
        finally:
            for one in (writer, there_writer):
                if one is not None:
                    one.close()
                    self._writers.discard(one)

    async def end(self) -> None:
        """Returns once every connection is closed, also those that were accepted just now or have something left to
        send. What a loop leaves open is reported in whichever test runs when it is collected."""
        self._refuses = True
        self._open.set()
        for _ in range(ACCEPTING_TURNS):
            await asyncio.sleep(0)
        serving = list(self._serving)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        for writer in self._opened:
            writer.transport.abort()
        await asyncio.gather(*(writer.wait_closed() for writer in self._opened), return_exceptions=True)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            await self._open.wait()
            writer.write(data)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def proxy_of(url: str) -> AsyncIterator[tuple[Proxy, str]]:
    """A proxy of the server of a URI, and the URI that leads through it."""
    parts = urlsplit(url)
    proxy = Proxy(parts.hostname or "", parts.port or 0)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    place = f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{proxy.port}"
    try:
        yield proxy, urlunsplit(parts._replace(netloc=place))
    finally:
        server.close()
        await proxy.end()
