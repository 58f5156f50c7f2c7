"""The past equals what was seen when it was the present: every answer is recorded, and asked for again by its time."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import httpx
import pytest

from lily.model import clock
from lily.model.assets import LAYERS
from tests.contract.door import Door, client, table
from tests.integration.test_lake_reads import column, send, when_recorded
from tests.shared_stack import Stack

COLUMN, TABLE = "shop.public.orders.amount", "shop.public.orders"
OWN = ("fresh_as_of", "version")  # a version counts local changes and is no part of sameness


@pytest.fixture
def door(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Door]:
    tenant, token = make_tenant()
    with client(stack, token) as http:
        http.timeout = httpx.Timeout(150)
        yield Door(stack, tenant, token, http)


def seen(answer: httpx.Response) -> dict[str, Any] | int:
    if answer.status_code != 200:
        return answer.status_code
    view = {key: value for key, value in answer.json().items() if key not in OWN}
    # What was derived when is not kept: of the past only what was stated is told.
    return view | {"tags": {layer: view["tags"][layer] for layer in LAYERS}}


def acts(door: Door, random: Random) -> list[Callable[[], object]]:
    """What happens to a column and to its table: in bulk, one by one, by a person; the column is promoted midway."""
    plain: list[Callable[[], object]] = [
        lambda: send(door, table(TABLE), column(COLUMN, owner="alice", data_type="numeric")),
        lambda: send(door, column(COLUMN, owner="bob")),
        lambda: door.change("POST", "/api/v1/lineage", described(TABLE, amount="money", id="bigint")),
        lambda: send(door, column(COLUMN, description="late") | {"time": "2026-01-01T00:00:00Z"}),
    ]
    hot: list[Callable[[], object]] = [
        lambda: door.change("POST", f"/metadata/{COLUMN}/tags", {"tag": "PII"}),
        lambda: send(door, column(COLUMN, owner="carol", data_type="bigint")),
        lambda: door.change("PUT", f"/metadata/{COLUMN}", {"attributes": {"owner": "dana"}}),
        lambda: door.change("DELETE", f"/metadata/{COLUMN}"),
        lambda: door.change("POST", f"/metadata/{COLUMN}/restore"),
        lambda: door.ingest(TABLE, owner="erin"),
        lambda: door.change("PUT", f"/metadata/{TABLE}", {"attributes": {"tags": ["gold"]}}),
    ]
    random.shuffle(hot)
    return plain + hot


def described(dataset: str, **types: str) -> dict[str, Any]:
    """An OpenLineage event that states the columns of a dataset."""
    fields = [{"name": name, "type": kind} for name, kind in types.items()]
    about = {"namespace": "postgres://db:5432", "name": dataset, "facets": {"schema": {"fields": fields}}}
    return {"eventTime": clock.now(), "dataset": about}


@pytest.mark.campaign
@pytest.mark.parametrize("seed", [1, 2])
def test_every_moment_of_a_recorded_history_can_be_asked_for_again(door: Door, seed: int) -> None:
    recorded: list[tuple[str, str, dict[str, Any] | int]] = []
    for act in [lambda: None, *acts(door, Random(seed))]:
        act()
        for name in (COLUMN, TABLE):
            answer = seen(door.http.get(f"/metadata/{name}"))
            recorded.append((name, clock.now(), answer))
    for name, at, answer in recorded:
        past = seen(when_recorded(door, name, at))
        if isinstance(past, dict) and isinstance(answer, dict):
            # Until the lake has the time, events that changed nothing are not known.
            assert past.pop("updated_at") <= answer.pop("updated_at")
        assert past == answer
