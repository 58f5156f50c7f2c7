"""Analyzes SQL in separate processes, one script at a time in each.

A script can take the whole time limit. So each tenant has a limited number of scripts at a time, tenants take turns,
and one process is always left to the others: a tenant whose scripts are slow does not occupy all of them.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import orjson

from lily.api.http.errors import Declined, too_many
from lily.api.tenant_shares import TenantShares, TenantTurns
from lily.intake.sql.process import SqlProcess, Unreadable
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult
from lily.model.errors import Problem, Transient

PROCESSES = 3  # each is limited to 1.5 GB, and ends when it is idle
MAX_SCRIPTS = 64  # of all tenants at a time
MAX_SCRIPTS_OF_TENANT = 5  # at a time: two that are analyzed and three that wait


class SqlAnalyzer:
    """Raises Unreadable for a script that cannot be parsed or takes too long."""

    def __init__(self, processes: int = PROCESSES) -> None:
        self._free = [SqlProcess() for _ in range(processes)]
        self._all = tuple(self._free)
        self._turns = TenantTurns(processes, share=max(1, processes - 1))
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
        line = orjson.dumps(request.as_json()) + b"\n"
        async with self._turns.turn(tenant):
            with self._process(request.sql) as process:
                reply = await process.exchange(line)
        if "problems" in reply:
            raise Unreadable(*(Problem(**problem) for problem in reply["problems"]))
        return AnalysisResult.from_json(reply["result"])

    async def close(self) -> None:
        await asyncio.gather(*(process.close() for process in self._all))

    @contextmanager
    def _process(self, script: str) -> Iterator[SqlProcess]:
        """A free process: if possible the one that has parsed the script before, else the one used last."""
        process = next((process for process in self._free if process.parsed == script), self._free[-1])
        self._free.remove(process)
        process.parsed = script
        try:
            yield process
        finally:
            self._free.append(process)


def _too_many(share: int) -> Declined:
    text = f"your tenant has {share} scripts in work already; send this one again when one of them is done"
    return too_many("TOO_MANY_SCRIPTS", text, "sql")
