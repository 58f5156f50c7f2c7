"""Checks and explanations as of a time: policies, roles, users and tags of then, derived tags with their paths."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest

from lily.model import clock, ids
from tests.contract.access import Json, create, effect, policy
from tests.contract.door import Door, codes, table
from tests.contract.flows import connect, disconnect, ingest_all, propagate
from tests.shared_stack import lily

EVERYONE = {"user": "*"}


def recorded(door: Door, path: str, body: Json, patience: float = 60) -> httpx.Response:
    """The lake records what happened a moment later."""
    deadline = time.monotonic() + patience
    while True:
        answer = door.http.post(path, json=body)
        if answer.status_code != 503 or time.monotonic() > deadline:
            return answer
        time.sleep(0.2)


def as_of(door: Door, principal: str, asset: str, at: str) -> httpx.Response:
    checks = [{"principal": principal, "action": "READ", "asset_id": asset}]
    return recorded(door, "/policy/check", {"checks": checks, "as_of": at})


def decision(door: Door, principal: str, asset: str, at: str) -> Json:
    answer = as_of(door, principal, asset, at)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["decisions"][0])


def explained(door: Door, principal: str, asset: str, at: str | None = None) -> Json:
    """What of an explanation does not depend on when it was made."""
    body = {"principal": principal, "action": "READ", "asset_id": asset} | ({"as_of": at} if at else {})
    answer = recorded(door, "/policy/explain", body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found.get("as_of") == at
    found["tags"].sort(key=lambda one: (one["tag"], one["layer"]))
    return {name: value for name, value in found.items() if name not in {"version", "as_of"}}


def test_the_past_is_decided_by_the_policies_roles_users_and_tags_of_then(door: Door) -> None:
    before_all = clock.now()
    door.ingest("shop.orders", tags=["Draft"])
    create(door, "/policies", policy({"role": "reader"}, {"asset": "*"}, id="readers"))
    create(door, "/policies", policy(EVERYONE, {"tag": "Draft"}, "deny", id="no-drafts"))
    create(door, "/users", {"name": "ann", "roles": ["reader"]})
    drafted = clock.now()
    door.ingest("shop.orders", tags=["Done"])
    released = clock.now()
    door.http.put("/users/ann", json={"roles": []})
    left = clock.now()
    door.http.delete("/policies/readers")
    found = [decision(door, "ann", "shop.orders", at) for at in (before_all, drafted, released, left)]
    decided = [(one["effect"], one["policy_id"]) for one in found]
    assert decided == [("deny", None), ("deny", "no-drafts"), ("allow", "readers"), ("deny", None)]
    assert effect(door, "ann", "shop.orders") == "deny"


@pytest.mark.campaign
def test_conditions_compare_the_time_of_then(door: Door) -> None:
    door.ingest("shop.orders")
    end = datetime.now(UTC) + timedelta(seconds=8)
    allowed_until = {"time": {"not_after": clock.stamp(end)}}
    create(door, "/policies", policy(EVERYONE, {"asset": "*"}, id="for-a-while", conditions=allowed_until))
    then = clock.now()
    while effect(door, "ann", "shop.orders") == "allow":
        time.sleep(0.2)
    assert datetime.now(UTC) > end
    assert decision(door, "ann", "shop.orders", then)["policy_id"] == "for-a-while"
    assert explained(door, "ann", "shop.orders", then)["effect"] == "allow"
    assert explained(door, "ann", "shop.orders")["effect"] == "deny"


def test_unknown_objects_are_decided_by_the_setting_of_then(door: Door) -> None:
    door.http.put("/settings", json={"unknown_objects": "open"})
    then = clock.now()
    door.http.put("/settings", json={"unknown_objects": "closed"})
    assert decision(door, "ann", "shop.unknown", then)["effect"] == "allow"
    assert effect(door, "ann", "shop.unknown") == "deny"


def test_the_past_before_the_kept_history_is_refused(door: Door) -> None:
    door.ingest("shop.orders")
    create(door, "/policies", {"id": "p", **policy({"user": "ann"}, {"asset": "*"})})
    before = clock.now()
    assert door.http.delete("/policies/p").status_code == 200
    until_now = clock.now()
    assert as_of(door, "ann", "shop.orders", before).json()["decisions"][0]["effect"] == "allow"
    with psycopg.connect(door.stack.database) as connection:
        # As if the rest of the history were older.
        connection.execute("delete from access_history where tenant_id = %s and valid_to is not null", [door.tenant])
        connection.execute(
            "update access_versions set history_from = %s where tenant_id = %s", [until_now, door.tenant]
        )
    refused = as_of(door, "ann", "shop.orders", before)
    assert (refused.status_code, codes(refused)) == (422, {"HISTORY_NOT_KEPT"})
    assert until_now in refused.json()["errors"][0]["description"]
    assert as_of(door, "ann", "shop.orders", until_now).json()["decisions"][0]["effect"] == "deny"


@pytest.fixture
def flow(door: Door) -> Door:
    """people (PII) → mart → report, and mart.email, a column of mart. Everyone reads, personal data is masked."""
    ingest_all(door, table("people"), table("mart"), table("report"))
    door.ingest("mart.email", "column", parent="mart")
    door.change("POST", "/metadata/people/tags", {"tag": "PII"})
    connect(door, ("people", "mart"), ("mart", "report"))
    propagate(door)
    create(door, "/policies", policy(EVERYONE, {"asset": "*"}, id="open"))
    create(door, "/policies", policy(EVERYONE, {"tag": "PII"}, "mask", id="mask-pii", mask="show-last-4"))
    return door


@pytest.mark.campaign
def test_every_moment_is_explained_as_it_was_at_the_moment(flow: Door) -> None:
    """What the API shows at each moment is what it shows later for that moment, with the same path."""
    assert flow.http.put("/settings", json={"on_delete": "cut"}).status_code == 200
    assets = ("people", "mart", "mart.email", "report")
    moments: dict[str, dict[str, Json]] = {}

    def note(*masked: str) -> None:
        propagate(flow)
        at = clock.now()
        moments[at] = {name: explained(flow, "ann", name) for name in assets}
        assert [name for name in assets if moments[at][name]["effect"] == "mask"] == list(masked)

    note(*assets)
    flow.change("DELETE", "/metadata/people/tags/PII")
    note()
    flow.change("POST", "/metadata/people/tags", {"tag": "PII"})
    note(*assets)
    flow.change("POST", "/metadata/mart/tags/PII/suppress", {"reason": "tokenised"})
    note("people")
    flow.change("DELETE", "/metadata/mart/tags/PII/suppress")
    note(*assets)
    disconnect(flow, ("people", "mart"))
    note("people")
    connect(flow, ("people", "report"))
    note("people", "report")
    connect(flow, ("people", "mart"))
    note(*assets)
    flow.change("DELETE", "/metadata/mart")
    note("people", "mart", "report")
    disconnect(flow, ("people", "report"))
    note("people", "mart")
    flow.change("POST", "/metadata/mart/restore")
    note(*assets)
    flow.change("DELETE", "/metadata/people")
    note("people")
    later = {at: {name: explained(flow, "ann", name, at) for name in assets} for at in moments}
    assert later == moments


@pytest.fixture
def estate(door: Door) -> Door:
    """crm (GDPR) above crm.people, which somebody without authority moves to open, and then from there to nowhere."""
    ingest_all(door, table("crm", "schema", tags=["GDPR"]), table("open", "schema"), table("crm.people", parent="crm"))
    door.ingest("crm.people.email", "column", parent="crm.people")
    create(door, "/policies", policy(EVERYONE, {"asset": "*"}, id="open"))
    create(door, "/policies", policy(EVERYONE, {"tag": "GDPR"}, "mask", id="mask-gdpr", mask="show-last-4"))
    with door.limited("metadata:read", "metadata:write") as weak:
        weak.change("POST", "/ingest-metadata", table("crm.people", parent="open"))
        weak.change("POST", "/ingest-metadata", table("crm.people", parent=None))
    propagate(door)
    return door


def test_a_parent_that_was_held_then_counts_in_decisions_about_then(estate: Door) -> None:
    """Until somebody with authority ends it; and the path is that of then."""
    held, assets = clock.now(), ("crm.people", "crm.people.email")
    now = {name: explained(estate, "ann", name) for name in assets}
    assert [found["effect"] for found in now.values()] == ["mask", "mask"]
    estate.ingest("crm.people", parent="open")  # with authority
    propagate(estate)
    ended = clock.now()
    # The name of the table is still directly below the schema, which restricts it whatever its parent is.
    assert [effect(estate, "ann", name) for name in assets] == ["mask", "allow"]
    assert {name: explained(estate, "ann", name, held) for name in assets} == now
    assert [decision(estate, "ann", name, ended)["effect"] for name in assets] == ["mask", "allow"]
    (tag,) = decision(estate, "ann", "crm.people.email", held)["tags"]
    assert (tag["layer"], tag["names"]) == ("inherited", ["crm", "crm.people", "crm.people.email"])


def test_a_read_of_the_past_is_denied_for_a_tag_that_a_held_parent_conducted_then(estate: Door) -> None:
    held = clock.now()
    estate.ingest("crm.people", parent="open")
    propagate(estate)
    ended = clock.now()
    create(estate, "/policies", policy(EVERYONE, {"tag": "GDPR"}, "deny", id="no-gdpr"))
    with estate.limited("metadata:read") as reader:
        for name in ("crm.people", "crm.people.email"):
            assert past(reader, name, held).status_code == 403
            assert past(reader, name, ended).status_code == 200


def past(door: Door, name: str, at: str) -> httpx.Response:
    """The asset as of a time, once the lake has reached it."""
    deadline = time.monotonic() + 60
    while (answer := door.http.get(f"/metadata/{name}", params={"as_of": at})).status_code == 503:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return answer


def test_a_check_of_the_past_lists_the_tags_behind_it_with_origin_and_path(flow: Door) -> None:
    then = clock.now()
    flow.change("DELETE", "/metadata/people/tags/PII")
    disconnect(flow, ("people", "mart"))
    propagate(flow)
    assert effect(flow, "ann", "report") == "allow"
    found = decision(flow, "ann", "report", then)
    assert (found["effect"], found["policy_id"], found["mask"]) == ("mask", "mask-pii", "show-last-4")
    path = ["people", "mart", "report"]
    steps = [ids.asset_id(flow.tenant, name) for name in path]
    assert found["tags"] == [{"tag": "PII", "layer": "propagated", "path": steps, "names": path}]
    inherited = decision(flow, "ann", "mart.email", then)
    assert [(one["layer"], one["names"]) for one in inherited["tags"]] == [
        ("inherited", ["people", "mart", "mart.email"])
    ]
    assert decision(flow, "ann", "report", clock.now())["tags"] == []


def test_an_event_that_comes_late_does_not_change_what_was_shown_before_it(flow: Door) -> None:
    flow.change("DELETE", "/metadata/people/tags/PII")
    propagate(flow)
    untagged = clock.now()
    flow.ingest("mart", time="2026-01-01T00:00:00.000000Z", tags=["PII"])
    propagate(flow)
    assert effect(flow, "ann", "report") == "mask"
    for name in ("mart", "mart.email", "report"):
        assert decision(flow, "ann", name, untagged)["effect"] == "allow"


def test_tags_are_those_that_the_definitions_of_then_let_through(door: Door) -> None:
    ingest_all(door, table("a", tags=["Secret"]), table("b"))
    connect(door, ("a", "b"))
    door.http.post("/tags", json={"name": "Secret", "propagates": True})
    propagate(door)
    create(door, "/policies", policy(EVERYONE, {"asset": "*"}, id="open"))
    create(door, "/policies", policy(EVERYONE, {"tag": "secret"}, "deny", id="no-secrets"))
    defined = clock.now()
    assert door.http.delete("/tags/Secret").status_code == 200
    with psycopg.connect(door.stack.database) as owner:  # as the reaction to the deleted definition does
        gone = "select count(*) from derived_tags where tenant_id = %s"
        deadline = time.monotonic() + 60
        while owner.execute(gone, [door.tenant]).fetchall() != [(0,)] and time.monotonic() < deadline:
            owner.rollback()
            time.sleep(0.1)
    undefined = clock.now()
    assert decision(door, "ann", "b", defined)["policy_id"] == "no-secrets"
    assert decision(door, "ann", "b", undefined)["policy_id"] == "open"


def test_a_column_that_only_the_lake_has_had_the_tags_of_its_table(flow: Door) -> None:
    rows = [table("mart.phone", "column", parent="mart")]
    answer = flow.http.post("/ingest-metadata/bulk", json=rows)
    assert answer.status_code in {200, 202}, answer.text
    deadline, then = time.monotonic() + 90, clock.now()
    assert decision(flow, "ann", "mart.phone", then)["effect"] == "mask"  # by its name, before the lake has it
    while decision(flow, "ann", "mart.phone", then)["tags"][0]["layer"] != "inherited" and time.monotonic() < deadline:
        time.sleep(0.2)
        then = clock.now()
    flow.change("DELETE", "/metadata/people/tags/PII")
    propagate(flow)
    found = decision(flow, "ann", "mart.phone", then)
    assert (found["effect"], found["tags"][0]["layer"]) == ("mask", "inherited")
    assert found["tags"][0]["names"][:2] == ["people", "mart"]


def test_before_the_history_begins_the_past_is_not_guessed(flow: Door) -> None:
    """As after an upgrade: what had propagated before it is not known."""
    flow.ingest("alone")
    create(flow, "/policies", policy({"user": "eve"}, {"asset": "report"}, "deny", id="not-eve"))
    before = clock.now()
    with psycopg.connect(flow.stack.database) as owner:
        begin = "insert into derived_tag_history_starts values (%s, clock_timestamp()) returning starts_at"
        ((start,),) = owner.execute(begin, [flow.tenant]).fetchall()
    refused = as_of(flow, "ann", "report", before)
    assert (refused.status_code, codes(refused)) == (422, {"DERIVED_TAGS_NOT_RECORDED"})
    assert f"begins at {start.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}" in refused.json()["errors"][0]["description"]
    assert decision(flow, "ann", "alone", before)["effect"] == "allow"
    assert decision(flow, "eve", "report", before)["policy_id"] == "not-eve"
    assert decision(flow, "ann", "report", clock.now())["effect"] == "mask"
    body: Json = {"principal": "ann", "action": "READ", "asset_id": "report", "as_of": before}
    assert codes(recorded(flow, "/policy/explain", body)) == {"DERIVED_TAGS_NOT_RECORDED"}


def test_the_history_of_another_tenant_is_not_seen(flow: Door, other_door: Door) -> None:
    then = clock.now()
    create(other_door, "/policies", policy(EVERYONE, {"asset": "*"}, id="open"))
    create(other_door, "/policies", policy(EVERYONE, {"tag": "PII"}, "deny", id="no-pii"))
    now = clock.now()
    report = ids.asset_id(flow.tenant, "report")
    assert decision(other_door, "ann", report, now)["tags"] == []
    assert decision(flow, "ann", report, then)["effect"] == "mask"


@pytest.mark.parametrize("given", ["yesterday", 3, "2999-01-01T00:00:00Z"])
def test_an_explanation_of_no_past_time_is_refused(door: Door, given: Any) -> None:
    body = {"principal": "ann", "action": "READ", "asset_id": "x", "as_of": given}
    assert door.http.post("/policy/explain", json=body).status_code == 400


def test_the_command_explains_the_past(flow: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    then = clock.now()
    flow.change("DELETE", "/metadata/people/tags/PII")
    propagate(flow)
    decision(flow, "ann", "report", then)  # recorded by now
    monkeypatch.setenv("LILY_URL", flow.stack.url)
    monkeypatch.setenv("LILY_TOKEN", flow.token)
    done = lily("policy", "explain", "ann", "report", "--as-of", then, data_dir=flow.stack.data_dir)
    assert done.returncode == 0, done.stderr
    assert '"policy_id": "mask-pii"' in done.stdout
    assert '"layer": "propagated"' in done.stdout
