"""A TCP proxy in front of a server that can be cut off: silently, as a partition does, or by closing everything."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._open = asyncio.Event()
        self._open.set()
        self._refuses = False
        self._writers: set[asyncio.StreamWriter] = set()
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

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refuses:
            writer.close()
            return
        there_reader, there_writer = await asyncio.open_connection(*self._target)
        self._writers |= {writer, there_writer}
        with suppress(OSError):
            await asyncio.gather(self._pump(reader, there_writer), self._pump(there_reader, writer))
        self._writers -= {writer, there_writer}

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
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    place = f"{parts.netloc.rpartition('@')[0]}@127.0.0.1:{proxy.port}"
    try:
        yield proxy, urlunsplit(parts._replace(netloc=place))
    finally:
        proxy.resume()
        proxy.cut()
        server.close()
