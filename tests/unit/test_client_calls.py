"""Both clients, against a real server that misbehaves: one suite over the two."""

import asyncio
import inspect
import pydoc
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from lily.client import (
    AsyncLily,
    Denied,
    Lily,
    LilyApiError,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Refused,
    Retry,
    Unavailable,
    Unexpected,
)
from lily.client.retry import Attempts
from lily.model.errors import Problem, Terminal, Transient
from tests.badserver import Action, BadServer, Reply, bad_server, cut, drop

QUICK = Retry(attempts=4, seconds=20, first_pause=0.001, longest_pause=0.01)
ACCEPTED = Reply(202, {"status": "success", "metadata_id": "1"}, {"Lily-Receipt": "r"})
ASSET = {
    "metadata_id": "1",
    "entity_type": "table",
    "attributes": {"name": "orders", "qualified_name": "shop.public.orders", "tags": [], "business_terms": []},
    "tags": {name: [] for name in ("source", "enriched", "user", "propagated", "inherited", "effective")},
    "at_risk": [],
    "tenant_id": "default",
    "version": 1,
    "is_deleted": False,
    "created_at": "2026-11-15T08:00:00.000000Z",
    "updated_at": "2026-11-15T08:00:00.000000Z",
    "fresh_as_of": "2026-11-15T08:00:00.000000Z",
    "a_field_of_tomorrow": True,
}

Use = Callable[[Any], Any]
Play = Callable[[Use], Any]


def errors(code: str) -> dict[str, Any]:
    return {"errors": [{"code": code, "description": "what to do", "entity": "thing"}]}


@pytest.fixture
def server() -> Iterator[BadServer]:
    with bad_server() as served:
        yield served


@pytest.fixture(params=["sync", "async"])
def play(request: pytest.FixtureRequest, server: BadServer) -> Play:
    """Uses a client of either kind; iterators come back as lists."""

    def with_sync(use: Use) -> Any:
        with Lily(server.url, "secret", retry=QUICK) as lily:
            result = use(lily)
            return list(result) if isinstance(result, Iterator) else result

    async def with_async(use: Use) -> Any:
        async with AsyncLily(server.url, "secret", retry=QUICK) as lily:
            result = use(lily)
            return [item async for item in result] if isinstance(result, AsyncIterator) else await result

    return with_sync if request.param == "sync" else lambda use: asyncio.run(with_async(use))


def test_a_write_carries_the_token_the_statement_and_the_wait(server: BadServer, play: Play) -> None:
    server.will(Reply(200, {"status": "success", "metadata_id": "1", "superseded": True}, {"Lily-Receipt": "r"}))
    receipt = play(lambda lily: lily.ingest("table", {"name": "orders"}, wait=5))
    asked = server.asked[0]
    assert (asked.method, asked.path) == ("POST", "/ingest-metadata")
    assert asked.headers["authorization"] == "Bearer secret"
    assert asked.headers["prefer"] == "wait=5"
    body = orjson.loads(asked.body)
    assert (body["entity_type"], body["attributes"]) == ("table", {"name": "orders"})
    assert (receipt.metadata_id, receipt.superseded, receipt.readable, receipt.receipt) == ("1", True, True, "r")


def test_a_write_that_does_not_wait_is_accepted_and_not_yet_readable(server: BadServer, play: Play) -> None:
    server.will(ACCEPTED)
    receipt = play(lambda lily: lily.ingest("table", {"name": "orders"}))
    assert "prefer" not in server.asked[0].headers
    assert (receipt.superseded, receipt.readable) == (None, False)


@pytest.mark.parametrize(
    "failure",
    [
        Reply(503, errors("UNAVAILABLE"), {"Retry-After": "0"}),
        Reply(429, errors("LOG_FULL"), {"Retry-After": "0"}),
        Reply(503, b"<html>no upstream</html>"),
        Reply(502, b""),
        Reply(504, b""),
        drop,
        cut,
    ],
    ids=["503", "429", "503-of-a-proxy", "502", "504", "dropped", "cut"],
)
def test_what_may_pass_is_tried_again_with_the_very_same_statement(
    server: BadServer, play: Play, failure: Action
) -> None:
    server.will(failure, failure, ACCEPTED)
    assert play(lambda lily: lily.ingest("table", {"name": "orders"})).metadata_id == "1"
    assert len(server.asked) == 3
    assert len({asked.body for asked in server.asked}) == 1, "a retry with a new time would be a newer statement"
    assert orjson.loads(server.asked[0].body)["time"].endswith("Z")


def test_attempts_are_bounded(server: BadServer, play: Play) -> None:
    server.will(Reply(503, errors("UNAVAILABLE"), {"Retry-After": "0"}))
    with pytest.raises(Unavailable) as caught:
        play(lambda lily: lily.get("shop"))
    assert len(server.asked) == QUICK.attempts
    assert (caught.value.status, caught.value.problems) == (503, (Problem("UNAVAILABLE", "what to do", "thing"),))


def test_a_retry_after_beyond_our_patience_is_not_waited_for(server: BadServer, play: Play) -> None:
    server.will(Reply(429, errors("LOG_FULL"), {"Retry-After": "3000"}))
    with pytest.raises(Unavailable):
        play(lambda lily: lily.get("shop"))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Refused),
        (401, NotAuthenticated),
        (403, NotAllowed),
        (404, NotFound),
        (405, Refused),
        (409, Refused),
        (412, Refused),
        (413, Refused),
        (415, Refused),
        (422, Refused),
        (500, Unexpected),
    ],
)
def test_what_cannot_pass_is_raised_at_once_in_the_words_of_the_server(
    server: BadServer, play: Play, status: int, kind: type[LilyApiError]
) -> None:
    server.will(Reply(status, errors("SOME_CODE")))
    with pytest.raises(kind, match=r"SOME_CODE: what to do \(thing\)") as caught:
        play(lambda lily: lily.get("shop"))
    assert isinstance(caught.value, Terminal)
    assert (caught.value.status, len(server.asked)) == (status, 1)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"null", b'{"errors": 7}', b'{"errors": [7]}', b'{"errors": [{}]}']
)
def test_an_error_that_is_not_in_lilys_words_keeps_its_meaning(server: BadServer, play: Play, body: bytes) -> None:
    server.will(Reply(404, body))
    with pytest.raises(NotFound, match="404 Not Found"):
        play(lambda lily: lily.get("shop"))


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"tags": 3}', b'{"metadata_id": "1"'])
def test_an_answer_that_is_none_of_lilys_is_unexpected(server: BadServer, play: Play, body: bytes) -> None:
    server.will(Reply(200, body))
    with pytest.raises(Unexpected, match="GET /metadata/by-name"):
        play(lambda lily: lily.get("shop"))


@pytest.mark.parametrize("client", [Lily, AsyncLily])
def test_where_nothing_listens_the_message_says_so(client: type[Lily] | type[AsyncLily]) -> None:
    with bad_server() as gone:
        pass

    async def ask() -> None:
        if client is Lily:
            with Lily(gone.url, "secret", retry=QUICK) as lily:
                lily.get("shop")
        async with AsyncLily(gone.url, "secret", retry=QUICK) as other:
            await other.get("shop")

    with pytest.raises(Unavailable, match=f"No response from {gone.url} .*`lily status`") as caught:
        asyncio.run(ask())
    assert isinstance(caught.value, Transient)
    assert caught.value.status == 0


def test_a_name_goes_into_the_query_and_an_id_into_the_path(server: BadServer, play: Play) -> None:
    server.will(Reply(200, ASSET))
    asset = play(lambda lily: lily.get("s3://lake/a b/ü&q=1"))
    play(lambda lily: lily.get("b47d3178-f1b6-802c-992d-c32bf1cc4504"))
    assert server.asked[0].params == {"qualified_name": "s3://lake/a b/ü&q=1"}
    assert server.asked[1].path == "/metadata/b47d3178-f1b6-802c-992d-c32bf1cc4504"
    assert (asset.name, asset.qualified_name, asset.tags.effective) == ("orders", "shop.public.orders", [])


def test_all_pages_of_a_search_are_followed(server: BadServer, play: Play) -> None:
    pages = [[ASSET, ASSET], [], [ASSET]]
    cursors: list[str | None] = ["one", "two", None]
    server.will(*(Reply(200, {"items": p, "next_cursor": c}) for p, c in zip(pages, cursors, strict=True)))
    assert len(play(lambda lily: lily.find("orders", tag="PII", include_deleted=True, page_size=2))) == 3
    assert server.asked[0].params == {"q": "orders", "tag": "PII", "include_deleted": "true", "limit": "2"}
    assert [asked.params.get("cursor") for asked in server.asked] == [None, "one", "two"]


def test_every_other_call_asks_as_the_contract_says(server: BadServer, play: Play) -> None:
    server.will(ACCEPTED)
    play(lambda lily: lily.update("shop", {"owner": None}, wait=3))
    play(lambda lily: lily.delete("shop"))
    play(lambda lily: lily.restore("a/b"))
    play(lambda lily: lily.add_tag("shop", "PII"))
    play(lambda lily: lily.remove_tag("shop", "a/b c"))
    assert [(asked.method, asked.path, asked.body) for asked in server.asked] == [
        ("PUT", "/metadata/by-name", b'{"attributes":{"owner":null}}'),
        ("DELETE", "/metadata/by-name", b""),
        ("POST", "/metadata/a%2Fb/restore", b""),
        ("POST", "/metadata/shop/tags", b'{"tag":"PII"}'),
        ("DELETE", "/metadata/shop/tags/a%2Fb%20c", b""),
    ]


def test_jobs_and_runs_are_asked_by_name_or_id(server: BadServer, play: Play) -> None:
    server.will(Reply(200, {"items": [], "next_cursor": None}))
    play(lambda lily: lily.job("dbt/daily load"))
    play(lambda lily: lily.runs("dbt/daily load", page_size=2))
    play(lambda lily: lily.run("r-1"))
    play(lambda lily: lily.facets("shop.orders"))
    assert [(asked.method, asked.path, asked.params) for asked in server.asked] == [
        ("GET", "/jobs/dbt%2Fdaily%20load", {}),
        ("GET", "/jobs/dbt%2Fdaily%20load/runs", {"limit": "2"}),
        ("GET", "/runs/r-1", {}),
        ("GET", "/metadata/shop.orders/facets", {}),
    ]


def test_dead_letters_are_replayed_by_name_or_all(server: BadServer, play: Play) -> None:
    server.will(Reply(200, {"replayed": 2, "missing": [9], "denied": [4]}))
    replayed = play(lambda lily: lily.replay([1, 9]))
    assert (replayed.missing, replayed.denied) == ([9], [4])
    assert play(lambda lily: lily.replay()).replayed == 2
    assert [asked.body for asked in server.asked] == [b'{"ids":[1,9]}', b'{"all":true}']


def test_a_batch_names_what_a_policy_denies(server: BadServer, play: Play) -> None:
    denied = {"id": "vault", "policy_id": "closed", "reason": "policy 'Closed' denies READ"}
    server.will(Reply(200, {"items": [], "missing": ["gone"], "denied": [denied | {"added": "later"}]}))
    batch = play(lambda lily: lily.batch_get(["vault", "gone"]))
    assert (batch.missing, batch.denied) == (["gone"], [Denied(**denied)])
    server.will(Reply(200, {"items": [], "missing": []}))  # as an older server responds
    assert play(lambda lily: lily.batch_get(["vault"])).denied == []


def test_health_is_asked_once_and_not_ready_is_an_answer(server: BadServer, play: Play) -> None:
    server.will(Reply(503, errors("NOT_READY"), {"Retry-After": "1"}))
    health = play(lambda lily: lily.health())
    assert (health.ready, [problem.code for problem in health.problems]) == (False, ["NOT_READY"])
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda lily: lily.define_tag("PII"),
        lambda lily: lily.define_rule("owners", "owner", "override"),
        lambda lily: lily.health(),
    ],
    ids=["a new tag", "a new rule", "health"],
)
def test_what_would_fail_or_mean_nothing_the_second_time_is_sent_once(server: BadServer, play: Play, use: Use) -> None:
    server.will(drop)
    with pytest.raises(Unavailable):
        play(use)
    assert len(server.asked) == 1


def test_a_time_without_a_zone_and_what_no_json_can_say_are_refused_here(server: BadServer, play: Play) -> None:
    server.will(ACCEPTED)
    with pytest.raises(Refused, match="INVALID_TIME"):
        play(lambda lily: lily.ingest("table", {"name": "x"}, time=datetime(2026, 1, 1)))  # noqa: DTZ001
    with pytest.raises(Refused, match="INVALID_TYPE"):
        play(lambda lily: lily.ingest("table", {"name": {1, 2}}))
    assert server.asked == []
    play(lambda lily: lily.ingest("table", {"name": "x"}, time=datetime(2026, 1, 1, tzinfo=UTC)))
    assert orjson.loads(server.asked[0].body)["time"] == "2026-01-01T00:00:00.000000Z"


@pytest.mark.parametrize("wait", ["30", 0.5, True, -1])
def test_a_wait_that_is_no_number_of_seconds_is_refused_here(play: Play, wait: Any) -> None:
    with pytest.raises(TypeError, match=f"wait must be a whole number of seconds, such as 30, not {wait!r}"):
        play(lambda lily: lily.delete("shop.public.orders", wait=wait))


@pytest.mark.parametrize("use", [lambda lily: lily.get(None), lambda lily: lily.restore(7)])
def test_what_is_no_name_is_refused_here(play: Play, use: Use) -> None:
    with pytest.raises(TypeError, match=r"expected an id or a name, a string, not (None|7)"):
        play(use)


def test_one_event_is_no_stream_of_events(play: Play) -> None:
    with pytest.raises(TypeError, match=r"'entity_type' is none\. Put a single event into a list"):
        play(lambda lily: lily.ingest_many({"entity_type": "table", "attributes": {"name": "orders"}}))


def test_pauses_grow_and_never_undercut_what_the_server_asks_for() -> None:
    attempts = Attempts(Retry(attempts=9, seconds=1000, first_pause=1, longest_pause=4))
    pauses = [attempts.pause_after(Unavailable(503, [])) for _ in range(4)]
    assert all(low <= pause <= 2 * low for pause, low in zip(pauses, (0.5, 1, 2, 2), strict=True))
    assert attempts.pause_after(Unavailable(503, [], retry_after=7)) >= 7


def test_both_clients_offer_the_same_calls_with_the_same_signatures() -> None:
    def calls(client: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(client, inspect.isfunction)
        return {name: list(inspect.signature(method).parameters) for name, method in methods if name[0] != "_"}

    assert calls(Lily) == calls(AsyncLily)
    assert len(calls(Lily)) > 30
    assert calls(Lily)["get"] == ["self", "id_or_name"]


@pytest.mark.parametrize("client", [Lily, AsyncLily])
def test_help_shows_what_a_call_takes_and_does(client: type[Lily] | type[AsyncLily]) -> None:
    shown = pydoc.plain(pydoc.render_doc(client))
    assert "add_tag(self, /, id_or_name: str, tag: str, *, wait: int | None = None)" in shown
    assert "Adds one tag to the user layer." in shown


def test_tags_are_defined_suppressed_and_tried_out(server: BadServer, play: Play) -> None:
    definition = {"name": "Secret", "propagates": True, "direction": "both", "max_depth": None, "edge_types": None}
    definition |= {"stopped_by_masking": False}
    reached = {"metadata_id": "2", "qualified_name": "b", "depth": 1, "via": "1", "already": False, "suppressed": False}
    server.will(Reply(201, definition))
    assert play(lambda lily: lily.define_tag("Secret", propagates=True, direction="both")).direction == "both"
    server.will(ACCEPTED)
    play(lambda lily: lily.suppress_tag("shop/a", "a/b", "tokenised"))
    server.will(
        Reply(200, {"items": [reached], "next_cursor": "c"}), Reply(200, {"items": [reached], "next_cursor": None})
    )
    found = play(lambda lily: lily.would_reach("a", "PII"))
    assert [one.qualified_name for one in found] == ["b", "b"]
    asked = [(one.method, one.path.partition("?")[0]) for one in server.asked]
    dry_run = ("POST", "/propagations/dry-run")
    assert asked == [("POST", "/tags"), ("POST", "/metadata/shop%2Fa/tags/a%2Fb/suppress"), dry_run, dry_run]


def test_edges_are_stated_taken_away_and_walked(server: BadServer, play: Play) -> None:
    edge = {"from": "a", "to": "b", "relationship_type": "derived-from"}
    applied = {"status": "success", "accepted": 1, "edges": [edge], "superseded": False}
    server.will(Reply(202, {**applied, "superseded": None}, {"Lily-Receipt": "r"}), Reply(200, applied))
    assert not play(lambda lily: lily.relate([edge])).readable
    assert play(lambda lily: lily.unrelate([edge], wait=2)).readable
    server.will(Reply(200, {"nodes": [], "edges": [edge], "next_cursor": "c"}))
    assert play(lambda lily: lily.lineage("shop/a", depth=5, columns=True)).next_cursor == "c"
    assert [(asked.method, asked.path.partition("?")[0]) for asked in server.asked] == [
        ("POST", "/lineage"),
        ("DELETE", "/lineage"),
        ("GET", "/lineage/shop%2Fa"),
    ]
    assert server.asked[2].params == {"direction": "downstream", "depth": "5", "limit": "1000", "columns": "true"}


def test_lineage_from_sql_and_from_a_run_says_whether_it_can_be_read(server: BadServer, play: Play) -> None:
    server.will(Reply(200, {"edges": [], "statements": 1, "stored": False, "warnings": ["none"]}))
    assert play(lambda lily: lily.relate_by_sql("select 1", "postgres", dry_run=True)).warnings == ["none"]
    server.will(Reply(202, {"status": "success", "assets": 3, "edges": 1}))
    taken = play(lambda lily: lily.take_lineage({"eventTime": "2026-11-15T08:00:00Z"}))
    assert (taken.assets, taken.edges, taken.readable) == (3, 1, False)


def test_a_receipt_tells_how_far_a_write_travelled(server: BadServer, play: Play) -> None:
    told = {"id": "r", "state": "applied", "metadata_id": "1", "reached": 7, "depth": 3, "errors": []}
    server.will(Reply(200, told | {"started": "2026-11-15T08:00:00Z", "finished": None}))
    travel = play(lambda lily: lily.travel("r"))
    assert (travel.state, travel.reached, travel.depth) == ("applied", 7, 3)
