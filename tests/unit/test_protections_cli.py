"""`lily protections`: what it sends, and what a person reads."""

import orjson

from lily.cli.access.protections import NotDecided
from lily.model.errors import Terminal
from tests.badserver import Action, Asked, BadServer, Reply
from tests.cli_on_server import lily, sent, server_with

CLAIM = {
    "id": "WyJj",
    "kind": "claim",
    "from": "1",
    "from_name": "crm.people",
    "to": "2",
    "to_name": None,
    "job": "3",
    "job_name": "airflow/load",
    "relationship_type": "derived-from",
    "ended_by": "etl",
    "ended_at": "2026-01-02T06:00:00.000000Z",
    "tags": ["PII", "GDPR"],
    "keeps": ["2"],
    "count": 1,
    "more": True,
}


def _respond(asked: Asked) -> Action:
    if asked.method == "GET":
        return Reply(200, {"items": [CLAIM], "next_cursor": None})
    if asked.path.endswith("/undo"):
        return Reply(200, {"status": "success", "id": "WyJj", "outcome": "undone"})
    return Reply(200, {"items": [{"id": "WyJj", "outcome": "confirmed"}]})


server = server_with(_respond)


def test_what_is_pending_is_listed_by_name(server: BadServer) -> None:
    header, row = lily(server, "protections", "list").output.splitlines()
    assert header.split() == ["ITEM", "KIND", "WHAT", "TAGS", "KEEPS", "ENDED", "BY", "ENDED", "AT"]
    assert "crm.people → 2 (airflow/load)" in row
    assert "PII, GDPR" in row
    assert "1+" in row
    shown = orjson.loads(lily(server, "protections", "list", "--format", "json").output)
    assert shown == {"items": [CLAIM]}


def test_named_items_or_all_are_confirmed(server: BadServer) -> None:
    assert lily(server, "protections", "confirm", "WyJj").output == "✓ 1 confirmed\n"
    assert sent(server) == ("POST", "/protections/pending/confirm", {"ids": ["WyJj"]})
    assert lily(server, "protections", "confirm", "--all").output == "✓ 1 confirmed\n"
    assert sent(server) == ("POST", "/protections/pending/confirm", {"ids": ["WyJj"]})


def test_a_listed_item_fits_on_the_screen_and_is_chosen_by_the_beginning_of_its_short_name(server: BadServer) -> None:
    long = {**CLAIM, "id": "WyJj" * 60, "from_name": "warehouse." * 20 + "people", "ended_by": None}
    server.will(Reply(200, {"items": [long], "next_cursor": None}))
    row = lily(server, "protections", "list").output.splitlines()[1]
    assert len(row) < 160
    assert "people → 2 (airflow/load)" in row
    assert "2026-01-02 06:00" in row
    item = row.split()[0]
    for name in (item, item[:4]):
        server.will(Reply(200, {"items": [long, CLAIM], "next_cursor": None}))
        lily(server, "protections", "confirm", name)
        assert sent(server) == ("POST", "/protections/pending/confirm", {"ids": [long["id"]]})
    assert isinstance(lily(server, "protections", "undo", "0000000000").exception, Terminal)


def test_nothing_is_confirmed_by_mistake(server: BadServer) -> None:
    for words in ((), ("WyJj", "--all")):
        assert isinstance(lily(server, "protections", "confirm", *words).exception, Terminal)
    assert server.asked == []


def test_what_was_not_decided_is_reported(server: BadServer) -> None:
    server.will(Reply(200, {"items": [{"id": "WyJa", "outcome": "confirmed"}, {"id": "WyJb", "outcome": "not_found"}]}))
    done = lily(server, "protections", "confirm", "WyJa", "WyJb")
    assert isinstance(done.exception, NotDecided)
    assert "WyJb: not found" in str(done.exception)


def test_an_end_is_undone(server: BadServer) -> None:
    assert lily(server, "protections", "undo", "WyJj").output == "✓ 1 undone\n"
    assert sent(server)[:2] == ("POST", "/protections/pending/WyJj/undo")
