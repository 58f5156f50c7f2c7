"""How many channels, subscriptions and quality policies a tenant may have, and edges a request, at the door."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.contract.door import Door, client, codes
from tests.contract.routes import OPENLINEAGE
from tests.extra_api import extra_api
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # it starts an API of its own

LIMITED = ("CHANNELS", "SUBSCRIPTIONS", "QUALITY_POLICIES", "REQUEST_EDGES")
MOST = {f"LILY_LIMITS__{name}": "1" for name in LIMITED}
CHANNEL = {"type": "kafka", "config": {}}
SUBSCRIPTION = {"name": "n", "channel": "first", "destination": "ops"}
POLICY = {"asset": "shop.orders", "policy_type": "query_spike", "threshold": 1}


@pytest.fixture(scope="module")
def narrow(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """An API that permits one of each."""
    with extra_api(stack, tmp_path_factory.mktemp("narrow") / "api.log", **MOST) as seen:
        yield seen


@pytest.fixture
def http(door: Door, narrow: Stack) -> Iterator[httpx.Client]:
    with client(narrow, door.token) as found:
        yield found


def test_one_more_channel_is_refused_but_one_of_the_same_name_exists_already(http: httpx.Client) -> None:
    assert http.post("/channels", json={"name": "first", **CHANNEL}).status_code == 201
    refused = http.post("/channels", json={"name": "second", **CHANNEL})
    assert (refused.status_code, codes(refused)) == (409, {"TOO_MANY_CHANNELS"})
    assert "LILY_LIMITS__CHANNELS" in refused.text
    assert codes(http.post("/channels", json={"name": "FIRST", **CHANNEL})) == {"EXISTS"}
    assert http.delete("/channels/first").status_code == 200
    assert http.post("/channels", json={"name": "second", **CHANNEL}).status_code == 201


def test_one_more_subscription_is_refused_and_those_that_exist_can_be_changed(http: httpx.Client) -> None:
    http.post("/channels", json={"name": "first", **CHANNEL})
    first = http.post("/subscriptions", json=SUBSCRIPTION)
    assert first.status_code == 201
    refused = http.post("/subscriptions", json=SUBSCRIPTION)
    assert (refused.status_code, codes(refused)) == (409, {"TOO_MANY_SUBSCRIPTIONS"})
    assert codes(http.post("/subscriptions", json={**SUBSCRIPTION, "channel": "none"})) == {"UNKNOWN_CHANNEL"}
    path = f"/subscriptions/{first.json()['id']}"
    assert http.put(path, json={**SUBSCRIPTION, "name": "renamed"}).json()["name"] == "renamed"
    assert http.delete(path).status_code == 200
    assert http.post("/subscriptions", json=SUBSCRIPTION).status_code == 201


def test_one_more_quality_policy_is_refused_and_those_that_exist_can_be_changed(http: httpx.Client) -> None:
    assert http.post("/quality-policies", json={"id": "first", **POLICY}).status_code == 201
    refused = http.post("/quality-policies", json=POLICY)
    assert (refused.status_code, codes(refused)) == (409, {"TOO_MANY_QUALITY_POLICIES"})
    assert codes(http.post("/quality-policies", json={"id": "First", **POLICY})) == {"EXISTS"}
    assert http.put("/quality-policies/first", json={**POLICY, "threshold": 2}).json()["threshold"] == 2
    assert http.delete("/quality-policies/first").status_code == 200
    assert http.post("/quality-policies", json=POLICY).status_code == 201


def test_events_of_an_array_beyond_the_edges_of_a_request_are_refused_one_by_one(http: httpx.Client) -> None:
    def event(number: int) -> dict[str, Any]:
        inputs = [{"namespace": "shop", "name": f"in{number}.{one}"} for one in range(2)]
        outputs = [{"namespace": "shop", "name": f"out{number}"}]
        return {**OPENLINEAGE, "job": {"namespace": "n", "name": f"j{number}"}, "inputs": inputs, "outputs": outputs}

    tally = http.post("/api/v1/lineage/batch", json=[event(number) for number in range(3)]).json()
    assert (tally["accepted"], tally["rejected"]) == (1, 2)
    assert {(error["row"], error["code"]) for error in tally["errors"]} == {
        (2, "TOO_MANY_EDGES"),
        (3, "TOO_MANY_EDGES"),
    }
    assert "another request" in tally["errors"][0]["description"]
