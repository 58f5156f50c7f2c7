"""Runs in the bare environment: uses both clients against the stack, and prints what it saw as JSON."""

import asyncio
import json
import sys

from lily.client import AsyncLily, Lily, NotFound

WAIT = 60
TABLE = "bare.public.orders"


def blocking() -> dict[str, object]:
    with Lily() as lily, lily.notifications() as changes:
        receipt = lily.ingest("table", {"name": "orders", "qualified_name": TABLE}, wait=WAIT)
        heard = changes.receive(timeout=WAIT)
        lily.add_tag(TABLE, "PII", wait=WAIT)
        columns = ({"entity_type": "column", "attributes": {"name": f"c{n}", "parent": TABLE}} for n in range(3))
        return {
            "readable": receipt.readable,
            "heard": heard.qualified_name if heard else None,
            "tags": lily.get(TABLE).tags.effective,
            "accepted": lily.ingest_many(columns).accepted,
        }


async def awaited() -> dict[str, object]:
    async with AsyncLily() as lily:
        found = [asset.qualified_name async for asset in lily.find(entity_type="table")]
        try:
            await lily.get("bare.public.missing")
        except NotFound as error:
            return {"found": found, "missing": error.status}
        return {"found": found, "missing": None}


if __name__ == "__main__":
    seen = blocking() | asyncio.run(awaited())
    imported = {name.partition(".")[0] for name in sys.modules}
    print(json.dumps(seen | {"imported": sorted(imported)}))
