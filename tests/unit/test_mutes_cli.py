"""`lily notify mute` and what belongs to it: what it sends, and what a person reads."""

from datetime import UTC, datetime, timedelta

from lily.cli.metadata.mutes import TwoEnds
from lily.model import clock
from tests.badserver import Action, Asked, BadServer, Reply
from tests.cli_on_server import lily, sent, server_with

ID = "00000000-0000-4000-8000-000000000001"
MUTE = {"id": ID, "asset": None, "kind": "tag.*", "until": None, "reason": "a move", "by": "ann", "created_at": "t"}


def _respond(asked: Asked) -> Action:
    if asked.method == "GET":
        return Reply(200, {"items": [MUTE], "next_cursor": None})
    return Reply(201 if asked.method == "POST" else 200, MUTE)


server = server_with(_respond)


def test_a_mute_without_an_end_comes_with_the_command_that_ends_it(server: BadServer) -> None:
    shown = lily(server, "notify", "mute", "--kind", "tag.*", "--reason", "a move").output
    assert sent(server) == ("POST", "/notifications/mutes", {"kind": "tag.*", "reason": "a move"})
    assert shown == f"tag.* is muted until `lily notify unmute {ID}`.\n"


def test_the_end_of_a_mute_is_a_time_or_a_duration(server: BadServer) -> None:
    before = datetime.now(UTC)
    assert lily(server, "notify", "mute", "--asset", "shop", "--for", "2h").exit_code == 0
    body = sent(server)[2]
    assert body["asset"] == "shop"
    assert before <= clock.parse(body["until"]) - timedelta(hours=2) <= datetime.now(UTC)
    server.will(Reply(201, MUTE | {"asset": "7", "until": "2030-01-01T08:00:00.000000Z"}))
    words = ("notify", "mute", "--asset", "shop", "--kind", "tag.*", "--until", "2030-01-01T08:00:00Z")
    assert lily(server, *words).output == "tag.* of shop is muted until 2030-01-01T08:00:00.000000Z.\n"
    assert sent(server)[2]["until"] == "2030-01-01T08:00:00Z"


def test_a_mute_has_one_end(server: BadServer) -> None:
    done = lily(server, "notify", "mute", "--kind", "tag.*", "--for", "2h", "--until", "2030-01-01T08:00:00Z")
    assert isinstance(done.exception, TwoEnds)
    assert server.asked == []


def test_mutes_are_listed_and_ended_by_their_id(server: BadServer) -> None:
    assert [line.split() for line in lily(server, "notify", "mutes").output.splitlines()] == [
        ["ID", "ASSET", "KIND", "UNTIL", "BY", "REASON"],
        [ID, "-", "tag.*", "-", "ann", "a", "move"],
    ]
    assert lily(server, "notify", "unmute", ID).output == f"{ID} is removed.\n"
    assert sent(server)[:2] == ("DELETE", f"/notifications/mutes/{ID}")
    server.will(Reply(200, {"items": [], "next_cursor": None}))
    assert "Nothing is muted" in lily(server, "notify", "mutes").output
