"""Parses SQL in a separate process, which is started on demand: one script at a time, with a time limit.

A script can take the whole time limit, so tenants take turns, and each has a limited number of scripts at a time.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from lily.api.http.errors import Declined, too_many
from lily.api.tenant_shares import TenantShares, TenantTurns
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult
from lily.model.errors import Problem, Refused, Transient

SECONDS = 10.0
MAX_RESULT_BYTES = 64 << 20
MAX_SCRIPTS = 64  # of all tenants at a time
MAX_SCRIPTS_OF_TENANT = 5  # at a time: one that is parsed and four that wait


class Unreadable(Refused):
    """The script cannot be parsed; the problems give the position and the reason."""


class SqlAnalyzer:
    """Raises Unreadable for a script that cannot be parsed or takes too long.

    A process that did not respond is killed, so that the next script gets a working one.
    """

    def __init__(self) -> None:
        self._process: Process | None = None
        self._turns = TenantTurns()
        self._shares = TenantShares(MAX_SCRIPTS_OF_TENANT, _too_many)
        self._scripts = 0

    @contextmanager
    def script(self, tenant: str) -> Iterator[None]:
        """Admits a script, which may be analyzed several times inside the context. Raises Declined with 429 if the
        tenant has too many scripts already, Transient if all tenants together have."""
        if self._scripts >= MAX_SCRIPTS:
            raise Transient("Too many SQL scripts are waiting to be parsed. Try again in a moment.")
        with self._shares.one(tenant):
            self._scripts += 1
            try:
                yield
            finally:
                self._scripts -= 1

    async def analyze(self, tenant: str, request: AnalysisRequest) -> AnalysisResult:
        async with self._turns.turn(tenant):
            reply = await self._exchange(orjson.dumps(request.as_json()) + b"\n")
        if "problems" in reply:
            raise Unreadable(*(Problem(**problem) for problem in reply["problems"]))
        return AnalysisResult.from_json(reply["result"])

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def _exchange(self, line: bytes) -> dict[str, Any]:
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


def _too_many(share: int) -> Declined:
    text = f"your tenant has {share} scripts in work already; send this one again when one of them is done"
    return too_many("TOO_MANY_SCRIPTS", text, "sql")
