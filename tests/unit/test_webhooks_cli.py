"""`lily webhooks`: what it sends, and what a person reads."""

import json
from pathlib import Path

import pytest

from lily.cli.metadata.webhooks import BadFile, NoSecret
from tests.badserver import Action, Asked, BadServer, Reply
from tests.cli_on_server import lily, sent, server_with

MAPPINGS = [{"name": "soda", "shipped": True, "fields": {}}, {"name": "tickets", "shipped": False, "fields": {}}]
STORED = {"source": "soda", "created_at": "2026-01-01T08:00:00.000000Z", "previous_valid_until": None}


def _respond(asked: Asked) -> Action:
    if asked.method == "GET" and asked.path == "/webhook-mappings":
        return Reply(200, {"items": MAPPINGS, "next_cursor": None})
    if asked.method == "GET" and asked.path == "/webhook-secrets":
        unread = STORED | {"source": "montecarlo"}
        return Reply(200, {"items": [STORED, unread], "next_cursor": None})
    return Reply(201 if asked.method == "POST" else 200, {**STORED, "name": "tickets", "items": []})


server = server_with(_respond)


def test_the_secret_comes_from_the_standard_input_and_is_not_printed(server: BadServer) -> None:
    done = lily(server, "webhooks", "set-secret", "soda", given="s3cret-of-soda\n")
    assert (done.exit_code, "s3cret" in done.output) == (0, False)
    assert sent(server) == ("PUT", "/webhook-secrets/soda", {"secret": "s3cret-of-soda"})
    assert f"{server.url}/webhook/soda?tenant=TENANT" in done.output


def test_a_generated_secret_is_printed_once_and_is_the_one_that_is_set(server: BadServer) -> None:
    done = lily(server, "webhooks", "set-secret", "soda", "--generate", "--keep-previous-for", "60")
    secret = done.output.splitlines()[-1]
    assert len(secret) == 64
    assert sent(server)[2] == {"secret": secret, "keep_previous_for": 60}


def test_without_a_secret_nothing_is_sent(server: BadServer) -> None:
    done = lily(server, "webhooks", "set-secret", "soda", given="")
    assert isinstance(done.exception, NoSecret)
    assert server.asked == []


def test_a_source_that_nothing_reads_is_reported_with_a_similar_name(server: BadServer) -> None:
    done = lily(server, "webhooks", "set-secret", "montecarlo", given="long enough")
    assert "did you mean monte-carlo?" in done.output
    listed = lily(server, "webhooks", "list").output.splitlines()
    readers = {line.split()[0]: line.split()[1] for line in listed[1:]}
    assert {name: readers[name] for name in ("montecarlo", "monte-carlo", "soda", "tickets")} == {
        "montecarlo": "nothing",
        "monte-carlo": "plug-in",
        "soda": "mapping",
        "tickets": "own",
    }


@pytest.mark.parametrize(
    ("name", "method", "path"),
    [("tickets", "PUT", "/webhook-mappings/tickets"), ("soda", "POST", "/webhook-mappings")],
)
def test_a_mapping_of_ones_own_is_replaced_and_any_other_is_created(
    server: BadServer, tmp_path: Path, name: str, method: str, path: str
) -> None:
    file = tmp_path / "mapping.json"
    file.write_text(json.dumps({"name": name, "fields": {}}))
    assert lily(server, "webhooks", "put-mapping", str(file)).exit_code == 0
    assert sent(server) == (method, path, {"name": name, "fields": {}})


@pytest.mark.parametrize("content", ["[]", "{", '{"fields": {}}'])
def test_a_file_that_is_no_mapping_is_refused_before_anything_is_sent(
    server: BadServer, tmp_path: Path, content: str
) -> None:
    file = tmp_path / "mapping.json"
    file.write_text(content)
    done = lily(server, "webhooks", "put-mapping", str(file))
    assert isinstance(done.exception, BadFile)
    assert server.asked == []


def test_a_shown_mapping_can_be_put_again(server: BadServer) -> None:
    server.will(Reply(200, MAPPINGS[1]))
    assert json.loads(lily(server, "webhooks", "show-mapping", "tickets").output) == {"name": "tickets", "fields": {}}


def test_a_tried_message_shows_what_each_item_becomes(server: BadServer, tmp_path: Path) -> None:
    file = tmp_path / "message.json"
    file.write_text('[{"id": 1}]')
    statement = {"external_id": "17", "state": "open", "severity": "critical", "tables": ["a.b"], "title": "Late"}
    refused = {"outcome": "refused", "errors": [{"description": "correct its path"}]}
    server.will(Reply(200, {"items": [{"outcome": "incident", "statement": statement}, refused]}))
    shown = lily(server, "webhooks", "test", "tickets", str(file)).output
    assert sent(server) == ("POST", "/webhook-mappings/tickets/test", [{"id": 1}])
    assert [line.split() for line in shown.splitlines()[1:]] == [
        ["incident", "17", "open", "critical", "a.b", "Late", "-"],
        ["refused", "-", "-", "-", "-", "-", "correct", "its", "path"],
    ]
