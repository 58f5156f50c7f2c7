"""The feed announces what propagation did, once, however often the log delivers it."""

from collections.abc import Callable

import orjson
import psycopg

from lily.bus import topics
from lily.model import ids
from lily.reactions.base import Event
from lily.reactions.feed import Feed
from tests.shared_stack import Stack


def test_an_event_that_is_delivered_again_is_announced_once(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    tenant, _ = make_tenant()
    with psycopg.connect(stack.database_of("lily_pipeline")) as connection:
        feed = Feed()
        feed.open(connection)
        for number in (1, 1, 2):
            feed.handle(tenant, [propagated(tenant, number)])
        rows = connection.execute("select event_id from announcements where tenant_id = %s order by 1", [tenant])
        assert rows.fetchall() == [("change-1",), ("change-2",)]
        batches = "select count(*) from batches where id in (select batch_id from announcements where tenant_id = %s)"
        assert connection.execute(batches, [tenant]).fetchone() == (2,)
        connection.rollback()  # else the stack would publish it


def propagated(tenant: str, number: int) -> Event:
    asset = ids.asset_id(tenant, f"asset {number}")
    data = {"change": "added", "tag": "pii", "root": asset, "assets": [asset]}
    return Event(topics.PROPAGATED, 0, number, b"", orjson.dumps({"id": f"change-{number}", "data": data}))
