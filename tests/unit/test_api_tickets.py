"""Tickets for WebSocket connections."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lily.api.http.errors import Declined
from lily.api.metrics import ApiMetrics
from lily.api.routes import notifications
from tests.quotas import any_failures


def test_a_ticket_that_is_not_valid_any_more_is_refused_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody(*_: Any) -> None:
        return None

    monkeypatch.setattr("lily.store.postgres.access.tokens.redeem_ticket", nobody)
    websocket = cast("Any", SimpleNamespace(query_params={"ticket": "used"}, headers={}, client=None))
    services = SimpleNamespace(database=None, strangers=any_failures(ApiMetrics()))
    with pytest.raises(Declined) as declined:
        asyncio.run(notifications._authenticated(websocket, cast("Any", services)))
    assert declined.value.status == 401
    assert declined.value.problems[0].description.startswith("the ticket was used or has expired; ")
