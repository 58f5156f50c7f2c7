"""Reads a bulk body row by row, in turns with the other requests of the process."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from lily.api.calls import HttpCall
from lily.api.http.encodings import decoded
from lily.api.ingest.bulk.intake import BulkIntake
from lily.model.errors import Refused
from lily.plugins import Row, Splitter

CHUNK = 500  # rows that are split in a thread before they are appended
TURN = 200  # rows until other requests go on; about 5 ms


async def stream(call: HttpCall, intake: BulkIntake, splitter: Splitter) -> None:
    """If the body turns out to be too long or malformed, or too many of its rows are refused, the rows before that are
    appended; the rest is one problem."""
    try:
        async for chunk in decoded(call.request, call.services.settings.limits.bulk_bytes):
            await _add(intake, splitter.feed(chunk))
            await intake.flush()
            await asyncio.sleep(0)  # a body that arrives faster than it is read would block all other requests
        async with call.services.bulk.threads(splitter) as threads:
            await _finish(intake, splitter, threads)
    except Refused as error:
        intake.stop(error)


async def _finish(intake: BulkIntake, splitter: Splitter, threads: ThreadPoolExecutor | None) -> None:
    """Some formats, such as workbooks, can only be read as a whole: in a thread, so that other requests can run."""
    remaining, loop = iter(splitter.finish()), asyncio.get_running_loop()
    while rows := await loop.run_in_executor(threads, lambda: list(islice(remaining, CHUNK))):
        await _add(intake, rows)


async def _add(intake: BulkIntake, rows: Iterable[Row]) -> None:
    """A few kilobytes can hold thousands of rows, so a turn also ends within a piece of the body."""
    for number, row in enumerate(rows, 1):
        await intake.add(row)
        if number % TURN == 0:
            await asyncio.sleep(0)
