"""The processes that analyze SQL for the worker."""

import asyncio
from typing import Any

import orjson

from lily.intake.sql.process import SqlProcess, Unreadable
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult
from lily.model.errors import Problem
from lily.reactions.event_loop import EventLoop

PROCESSES = 2  # each may need 1.5 GB; a tenant uses one at a time


class Analyzers:
    """Raises Unreadable for a script that cannot be parsed, or takes too long or too much memory."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop = loop
        self._all: list[SqlProcess] = []
        self._free: asyncio.Queue[SqlProcess] | None = None

    def close(self) -> None:
        """Ends the processes. Nothing may be analyzed afterwards."""
        if self._all:
            self._loop.run(self._close())

    def analyze(self, request: AnalysisRequest) -> AnalysisResult:
        reply = self._loop.run(self._exchange(orjson.dumps(request.as_json()) + b"\n"))
        if "problems" in reply:
            raise Unreadable(*(Problem(**problem) for problem in reply["problems"]))
        return AnalysisResult.from_json(reply["result"])

    async def _exchange(self, line: bytes) -> dict[str, Any]:
        if self._free is None:
            self._free = asyncio.Queue()
            self._all = [SqlProcess() for _ in range(PROCESSES)]
            for process in self._all:
                self._free.put_nowait(process)
        process = await self._free.get()
        try:
            return await process.exchange(line)
        finally:
            self._free.put_nowait(process)

    async def _close(self) -> None:
        for process in self._all:
            await process.close()
