"""A process that analyzes SQL: started on demand, with a time limit, and replaced when it fails."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from typing import Any

import orjson

from lily.model.errors import Problem, Refused

SECONDS = 10.0
MAX_RESULT_BYTES = 64 << 20


class Unreadable(Refused):
    """The script cannot be parsed; the problems give the position and the reason."""


class SqlProcess:
    """Raises Unreadable for a script that takes too long or too much memory. A process that did not respond is killed,
    so that the next script gets a working one."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self.parsed = ""  # the script whose statements it still has

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def exchange(self, line: bytes) -> dict[str, Any]:
        reused = self._process is not None
        reply = await self._reply(line)
        if not reply and reused:  # an idle process ends after a while
            reply = await self._reply(line)
        if not reply:
            raise Unreadable(Problem("TOO_COMPLEX", "the script is too large or nested too deeply; split it", "sql"))
        return dict(orjson.loads(reply))

    async def _reply(self, line: bytes) -> bytes:
        """Empty if the process ended."""
        process = self._process or await self._start()
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - both are pipes
        finished = False
        try:
            async with asyncio.timeout(SECONDS):
                process.stdin.write(line)
                await process.stdin.drain()
                reply = await process.stdout.readline()
            finished = reply.endswith(b"\n")
        except TimeoutError as error:
            raise Unreadable(
                Problem("TOO_COMPLEX", f"the script was not parsed within {SECONDS:g} s; split it", "sql")
            ) from error
        except (OSError, RuntimeError):  # uvloop raises RuntimeError for a closed pipe
            return b""
        else:
            return reply if finished else b""
        finally:
            if not finished:
                await self.close()

    async def _start(self) -> Process:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "lily.intake.sql", stdin=PIPE, stdout=PIPE, limit=MAX_RESULT_BYTES
        )
        return self._process
