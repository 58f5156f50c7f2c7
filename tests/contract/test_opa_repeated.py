"""Trino sends the same request with every query of a user. After a change the next one gets another answer, to the same
bytes, and not only from the process of the API that made the change."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from lily.store.postgres.access.administration import revoke_token
from tests import trino_requests as opa
from tests.contract.access import create, policy
from tests.contract.door import WAIT, Door
from tests.contract.flows import connect, disconnect, propagate
from tests.contract.trino_engine import PEOPLE, Engine, engine_of
from tests.extra_api import extra_api, until
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # it waits for other processes again and again

EMAIL = f"{PEOPLE}.email"
COLUMNS = ("id", "email")
ALL, NONE = list(COLUMNS), list[str]()


@pytest.fixture(scope="module")
def another_api(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with extra_api(stack, tmp_path_factory.mktemp("opa") / "api.log") as found:
        yield found


@dataclass(frozen=True)
class Repeated:
    """One request for masks, sent to two processes of the API."""

    engine: Engine
    other: Engine
    body: bytes

    def soon(self, engine: Engine, masked: list[str]) -> None:
        """Another process sees a change of policies or definitions within a second."""
        until(lambda: self.masked(engine) == masked, 10)

    def masked(self, engine: Engine) -> list[str]:
        address = f"{engine.door.stack.url}/enforce/opa/k/{engine.key}/batch-column-masking"
        found = httpx.post(address, content=self.body, headers={"content-type": "application/json"}, timeout=60)
        assert found.status_code == 200, found.text
        return [COLUMNS[one["index"]] for one in found.json()["result"]]


@pytest.fixture
def repeated(door: Door, another_api: Stack) -> Repeated:
    engine = engine_of(door)
    door.ingest(EMAIL, "column", parent=PEOPLE)
    body = json.dumps(opa.masks(PEOPLE, dict.fromkeys(COLUMNS, "varchar"), groups=["team"])).encode()
    return Repeated(engine, replace(engine, door=replace(door, stack=another_api)), body)


def tag(door: Door, name: str = EMAIL) -> None:
    door.change("POST", f"/metadata/{name}/tags", {"tag": "PII"})


def untag(door: Door) -> None:
    door.change("DELETE", f"/metadata/{EMAIL}/tags/PII")


def upstream(door: Door) -> None:
    """A personal column that nothing is derived from yet."""
    door.ingest("crm.persons", "table")
    door.ingest("crm.persons.mail", "column", parent="crm.persons", tags=["PII"])


def derived(door: Door) -> None:
    upstream(door)
    connect(door, ("crm.persons.mail", EMAIL))
    propagate(door)


def state_edge(door: Door) -> None:
    edge = {"from": "crm.persons.mail", "to": EMAIL, "relationship_type": "derived-from"}
    door.change("POST", "/lineage", {"edges": [edge]})


def cut_edge(door: Door) -> None:
    disconnect(door, ("crm.persons.mail", EMAIL))
    propagate(door)


def suppress(door: Door) -> None:
    door.change("POST", f"/metadata/{EMAIL}/tags/PII/suppress", {"reason": "a pseudonym"})


def settings(door: Door, **changed: str) -> None:
    assert door.http.put("/settings", json=changed, headers=WAIT).status_code == 200


def delete_origin(door: Door) -> None:
    door.change("DELETE", "/metadata/crm.persons.mail")
    propagate(door)


def derived_and_cut(door: Door) -> None:
    settings(door, on_delete="cut")
    derived(door)


def derived_from_deleted(door: Door) -> None:
    derived(door)
    delete_origin(door)


def cut_deleted(door: Door) -> None:
    settings(door, on_delete="cut")
    propagate(door)


def night_shift(door: Door) -> None:
    mask_for(door, group="night")
    create(door, "/users", {"name": "ann"})


def secret_upstream(door: Door) -> None:
    create(door, "/policies", policy({"user": "*"}, {"tag": "secret"}, "mask", mask="replace-with-null"))
    door.ingest("crm.persons", "table", tags=["Secret"])
    connect(door, ("crm.persons", EMAIL))


def define_secret(door: Door) -> None:
    create(door, "/tags", {"name": "Secret", "propagates": True})
    propagate(door)


def mask_for(door: Door, **subject: str) -> None:
    create(door, "/policies", policy(subject, {"asset": PEOPLE}, "mask", mask="replace-with-null", id="extra"))


def user(door: Door, **fields: Sequence[str]) -> None:
    assert door.http.put("/users/ann", json=fields).status_code == 200


def clerk(door: Door) -> None:
    mask_for(door, role="clerk")
    create(door, "/roles", {"name": "clerk"})
    create(door, "/users", {"name": "ann"})


def delete_policy(door: Door) -> None:
    assert door.http.delete("/policies/extra").status_code == 200


def disable(door: Door) -> None:
    assert door.http.post("/users/ann/disable").status_code == 200


def give_group(door: Door) -> None:
    assert door.http.put("/roles/clerk", json={"groups": ["team"]}).status_code == 200


def mapped(door: Door) -> None:
    mapping = {"data_source": "trino", "engine_name": PEOPLE, "asset_name": "hr.staff"}
    door.ingest("hr.staff", "table", tags=["PII"])
    create(door, "/engine-mappings", {"name": "people", **mapping})


def nothing(_: Door) -> None:
    pass


@dataclass(frozen=True)
class Case:
    prepare: Callable[[Door], object]
    change: Callable[[Door], object]
    before: list[str]
    after: list[str]
    facts: bool = True  # another process sees it at once; policies and definitions within a second


CASES = {
    "a tag": Case(nothing, tag, NONE, ["email"]),
    "a tag that is removed": Case(tag, untag, ["email"], NONE),
    "a tag of the table": Case(nothing, lambda door: tag(door, PEOPLE), NONE, ALL),
    "a tag of the schema": Case(nothing, lambda door: tag(door, "memory.default"), NONE, ALL),
    "propagation": Case(upstream, derived, NONE, ["email"]),
    "an edge before it propagates": Case(upstream, state_edge, NONE, ["email"]),
    "an edge that is deleted": Case(derived, cut_edge, ["email"], NONE),
    "a suppression": Case(lambda door: tag(door, PEOPLE), suppress, ALL, ["id"]),
    "an asset of that name in another case": Case(
        nothing, lambda door: door.ingest(EMAIL.upper(), "column", tags=["PII"]), NONE, ["email"]
    ),
    "a table of that name in another case": Case(
        nothing, lambda door: door.ingest(PEOPLE.upper(), "table", parent="memory", tags=["PII"]), NONE, ALL
    ),
    "another parent": Case(nothing, lambda door: door.ingest(PEOPLE, "table", parent="elsewhere"), NONE, ALL),
    "deletion of the origin": Case(derived_and_cut, delete_origin, ["email"], NONE),
    "a tag's definition": Case(secret_upstream, define_secret, NONE, ["email"], facts=False),
    "what deletion means": Case(
        derived_from_deleted,
        cut_deleted,
        ["email"],
        NONE,
        facts=False,
    ),
    "a policy": Case(nothing, lambda door: mask_for(door, user="ann"), NONE, ALL, facts=False),
    "a policy that is deleted": Case(lambda door: mask_for(door, user="ann"), delete_policy, ALL, NONE, facts=False),
    "a user's role": Case(clerk, lambda door: user(door, roles=["clerk"]), NONE, ALL, facts=False),
    "a role's group": Case(clerk, give_group, NONE, ALL, facts=False),
    "a user's group": Case(
        night_shift,
        lambda door: user(door, groups=["night"]),
        NONE,
        ALL,
        facts=False,
    ),
    "a user that is disabled": Case(nothing, disable, NONE, ALL, facts=False),
    "an engine mapping": Case(nothing, mapped, NONE, ALL, facts=False),
}


@pytest.mark.parametrize("name", CASES)
def test_the_next_request_sees(repeated: Repeated, name: str) -> None:
    case, door = CASES[name], repeated.engine.door
    case.prepare(door)
    for engine in (repeated.engine, repeated.other):
        repeated.soon(engine, case.before)
        assert repeated.masked(engine) == case.before
    case.change(door)
    assert repeated.masked(repeated.engine) == case.after
    if not case.facts:
        repeated.soon(repeated.other, case.after)
    assert repeated.masked(repeated.other) == case.after


def test_the_next_request_sees_how_unknown_objects_are_decided(repeated: Repeated) -> None:
    door = repeated.engine.door
    ghost = json.dumps(opa.masks("ghost.town.people", dict.fromkeys(COLUMNS, "varchar"))).encode()
    asked = replace(repeated, body=ghost)
    for unknown_objects, masked in (("open", NONE), ("closed", ALL), ("open", NONE)):
        settings(door, unknown_objects=unknown_objects)
        assert asked.masked(repeated.engine) == masked
        asked.soon(repeated.other, masked)
    door.ingest("ghost.town.people", "table", tags=["PII"])
    for engine in (repeated.engine, repeated.other):
        assert asked.masked(engine) == ALL


def test_a_policy_that_depends_on_time_is_decided_at_every_request(repeated: Repeated) -> None:
    """A condition that holds for a moment: no answer that it gave is used later."""
    door = repeated.engine.door
    assert repeated.masked(repeated.engine) == NONE
    ends = {"conditions": {"time": {"not_after": (datetime.now(UTC) + timedelta(seconds=3)).isoformat()}}}
    create(door, "/policies", policy({"user": "ann"}, {"asset": PEOPLE}, "mask", mask="replace-with-null", **ends))
    until(lambda: repeated.masked(repeated.engine) == NONE, 30)  # a slow machine may see only the end of it


def test_a_key_that_is_revoked_opens_nothing_that_was_answered_before(repeated: Repeated) -> None:
    door = repeated.engine.door
    assert repeated.masked(repeated.engine) == NONE
    (key_id,) = door.token_ids("trino")
    assert revoke_token(door.stack.database, key_id)
    body, asked = json.loads(repeated.body), (repeated.engine, repeated.other)
    until(lambda: {one.post("batch-column-masking", body).status_code for one in asked} == {401}, 5)


def test_the_same_request_of_another_tenant_is_another_request(repeated: Repeated, other_door: Door) -> None:
    assert repeated.masked(repeated.engine) == NONE
    other = engine_of(other_door)
    tag(other_door, PEOPLE)
    assert repeated.masked(other) == ALL
    assert repeated.masked(repeated.engine) == NONE


def test_the_same_bytes_at_another_address_are_another_request(repeated: Repeated) -> None:
    body = opa.request("GetRowFilters", resource=opa.table(PEOPLE))
    assert repeated.engine.ask("row-filters", body) == []
    answer = repeated.engine.post("batch-column-masking", body)
    assert answer.status_code == 400


def test_every_answer_is_logged(repeated: Repeated) -> None:
    door = repeated.engine.door
    settings(door, decision_log="all")
    for _ in range(3):
        assert repeated.masked(repeated.engine) == NONE
    logged = "/policy/decisions?principal=ann&limit=100"
    # One decision about the table and one about each column.
    until(lambda: len(door.http.get(logged).json()["items"]) == 9, 30)
