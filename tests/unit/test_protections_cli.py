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
    "ended_at": "t",
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
    assert header.split() == ["ID", "KIND", "WHAT", "TAGS", "KEEPS", "ENDED", "BY", "ENDED", "AT"]
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


def test_nothing_is_confirmed_by_mistake(server: BadServer) -> None:
    for words in ((), ("WyJj", "--all")):
        assert isinstance(lily(server, "protections", "confirm", *words).exception, Terminal)
    assert server.asked == []


def test_what_was_not_decided_is_reported(server: BadServer) -> None:
    server.will(Reply(200, {"items": [{"id": "a", "outcome": "confirmed"}, {"id": "b", "outcome": "not_found"}]}))
    done = lily(server, "protections", "confirm", "a", "b")
    assert isinstance(done.exception, NotDecided)
    assert "b: not found" in str(done.exception)


def test_an_end_is_undone(server: BadServer) -> None:
    assert lily(server, "protections", "undo", "WyJj").output == "✓ 1 undone\n"
    assert sent(server)[:2] == ("POST", "/protections/pending/WyJj/undo")
