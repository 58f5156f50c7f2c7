"""What a tenant may send, at the doors: an administrator limits one tenant, and every door refuses what is beyond."""

import time
from collections.abc import Callable, Iterator

import grpc
import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

from lily.model.quotas import TenantLimits
from lily.store.postgres.access.quotas import set_limits
from tests.contract.door import Door, client, codes, table
from tests.contract.test_grpc import calling
from tests.contract.test_notifications import listen

TRIES = 300  # a limit is in force once the process has read it
PER_SECOND = 1  # the process lets a tenant send that of ten seconds at once


@pytest.fixture
def limit(door: Door) -> Callable[[TenantLimits], None]:
    """Sets the tenant's limits."""
    return lambda limits: set_limits(door.stack.database, door.tenant, limits, by="owner:ann")


@pytest.fixture
def exhausted(door: Door, limit: Callable[[TenantLimits], None]) -> Iterator[httpx.Response]:
    """The first response that refused a request of the tenant."""
    limit(TenantLimits(requests_per_second=PER_SECOND))
    yield until_refused(lambda: door.http.get("/metadata/none"))
    limit(TenantLimits())


def until_refused(send: Callable[[], httpx.Response]) -> httpx.Response:
    for _ in range(TRIES):
        if (response := send()).status_code == 429:
            return response
        time.sleep(0.01)
    raise AssertionError("nothing was refused")


def refusal_of_a_websocket(door: Door) -> Response:
    for _ in range(TRIES):
        try:
            listen(door).close()
        except InvalidStatus as error:
            return error.response
    raise AssertionError("no connection was refused")


def test_rest_refuses_requests_beyond_the_quota_and_states_the_pause(exhausted: httpx.Response) -> None:
    assert codes(exhausted) == {"QUOTA_EXCEEDED"}
    assert int(exhausted.headers["Retry-After"]) >= 1
    assert "lily tenant quota" in exhausted.text


@pytest.mark.usefixtures("exhausted")
def test_grpc_refuses_them_too(door: Door) -> None:
    def code() -> grpc.StatusCode:
        with pytest.raises(grpc.RpcError) as caught:
            service.lineage("none")
        error: grpc.Call = caught.value  # type: ignore[assignment]
        return error.code()

    with calling(door) as service:
        assert grpc.StatusCode.RESOURCE_EXHAUSTED in {code() for _ in range(30)}


@pytest.mark.usefixtures("exhausted")
def test_the_websocket_refuses_them_too(door: Door) -> None:
    refused = refusal_of_a_websocket(door)
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) >= 1


@pytest.mark.usefixtures("exhausted")
def test_a_plain_read_by_id_is_refused_too(door: Door) -> None:
    refused = until_refused(lambda: door.http.get("/metadata/7d1f4c1e-8f5b-5b3c-9a55-0c2f6f6f8b11"))
    assert codes(refused) == {"QUOTA_EXCEEDED"}


@pytest.mark.usefixtures("exhausted")
def test_another_tenant_is_not_affected(other_door: Door) -> None:
    assert {other_door.http.get("/metadata").status_code for _ in range(30)} == {200}


def test_events_beyond_the_quota_are_refused_and_reads_are_not(
    door: Door, limit: Callable[[TenantLimits], None]
) -> None:
    limit(TenantLimits(events_per_second=PER_SECOND))
    body = table("shop.orders")
    refused = until_refused(lambda: door.http.post("/ingest-metadata", json=body))
    assert "events per second" in refused.text
    assert door.http.get("/metadata").status_code == 200


def test_websockets_beyond_the_quota_are_refused(door: Door, limit: Callable[[TenantLimits], None]) -> None:
    limit(TenantLimits(connections=1))
    with listen(door):
        assert refusal_of_a_websocket(door).status_code == 429


def test_a_quota_is_audited(door: Door, limit: Callable[[TenantLimits], None]) -> None:
    limit(TenantLimits(bytes_per_second=5))
    (entry,) = door.http.get("/audit", params={"action": "tenant.quota_set"}).json()["items"]
    assert (entry["actor"], entry["detail"]) == ("owner:ann", {"bytes_per_second": 5})
    with client(door.stack, door.token) as http:
        assert http.get("/metadata").status_code == 200
