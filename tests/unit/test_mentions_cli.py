"""`lily notify set-mention` and what belongs to it: what it sends, and what a person reads."""

import pytest

from lily.cli.metadata.mentions import BadHandle
from tests.badserver import Action, Asked, BadServer, Reply
from tests.cli_on_server import lily, sent, server_with

KNOWN = {"name": "BI-Team", "handles": {"slack": "S1", "email": "bi@example.org"}}
UNKNOWN = {"errors": [{"code": "NOT_FOUND", "description": "there is no such mention", "entity": "ann"}]}
STATE = ("--handle", "slack=S1", "--handle", "email = a=b@example.org")


def _respond(asked: Asked) -> Action:
    if asked.method == "GET":
        return Reply(200, {"items": [KNOWN], "next_cursor": None})
    if asked.method == "PUT" and asked.path != "/mentions/bi-team":
        return Reply(404, UNKNOWN)
    return Reply(201 if asked.method == "POST" else 200, KNOWN)


server = server_with(_respond)


@pytest.mark.parametrize(
    ("name", "requests"),
    [("bi-team", [("PUT", "/mentions/bi-team")]), ("ann", [("PUT", "/mentions/ann"), ("POST", "/mentions")])],
)
def test_the_handles_of_an_owner_are_replaced_or_stated_for_the_first_time(
    server: BadServer, name: str, requests: list[tuple[str, str]]
) -> None:
    done = lily(server, "notify", "set-mention", name, *STATE)
    assert done.output == "BI-Team is known in slack, email.\n"
    assert [(asked.method, asked.path) for asked in server.asked] == requests
    assert sent(server)[2] == {"name": name, "handles": {"slack": "S1", "email": "a=b@example.org"}}


@pytest.mark.parametrize("handle", ["slack", "=S1", "slack="])
def test_a_handle_without_a_channel_or_a_value_is_refused_before_anything_is_sent(
    server: BadServer, handle: str
) -> None:
    done = lily(server, "notify", "set-mention", "ann", "--handle", handle)
    assert isinstance(done.exception, BadHandle)
    assert server.asked == []


def test_mentions_are_listed_and_removed_by_name(server: BadServer) -> None:
    assert lily(server, "notify", "mentions").output.splitlines()[1].split(maxsplit=1) == [
        "BI-Team",
        "slack=S1, email=bi@example.org",
    ]
    assert lily(server, "notify", "remove-mention", "BI-Team").output == "BI-Team is removed.\n"
    assert sent(server)[:2] == ("DELETE", "/mentions/BI-Team")
    server.will(Reply(200, {"items": [], "next_cursor": None}))
    assert "There is no mention" in lily(server, "notify", "mentions").output
