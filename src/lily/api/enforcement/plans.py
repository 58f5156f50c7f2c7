"""Plans and scripts, which a worker makes: only a worker can decrypt the configuration of a target."""

import asyncio
import time
from typing import Any

from lily.api.calls import HttpCall
from lily.store.postgres.enforcement import targets

PLAN_SECONDS = 60  # how long a response waits
POLL_SECONDS = 0.2


async def made_plan(call: HttpCall, key: str, request: str) -> dict[str, Any] | None:
    """The plan of a request; None if it is not made in time, or if the target is gone."""
    deadline = time.monotonic() + PLAN_SECONDS
    while time.monotonic() < deadline:
        found = await targets.find(call.services.database, call.tenant, key)
        if found is None:
            return None
        if (made := found["plan"]) and made["request"] == request:
            return dict(made)
        await asyncio.sleep(POLL_SECONDS)
    return None
