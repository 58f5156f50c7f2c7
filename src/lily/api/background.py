"""Ends background tasks."""

import asyncio
from typing import Any

AGAIN_SECONDS = 1.0


async def end(*tasks: "asyncio.Task[Any]") -> None:
    """Cancels the tasks and returns when all of them have ended.

    A cancellation can get lost: before Python 3.12 `asyncio.wait_for`, which the connection pool uses too, drops one
    that arrives at the moment at which what it waits for is done. So it is repeated until the task has ended.
    """
    running = set(tasks)
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=AGAIN_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)  # a failure was logged where it matters
