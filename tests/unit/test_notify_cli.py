"""`lily notify`: what it sends, and what a person reads."""

from pathlib import Path

import pytest

from lily.cli.metadata.notify import NoSubscription
from tests.badserver import Action, Asked, BadServer, Reply
from tests.cli_on_server import lily, server_with

FIRST, SECOND = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
LISTED = [{"id": FIRST, "name": "mine"}, {"id": SECOND, "name": "theirs"}, {"id": "3", "name": "theirs"}]


def _respond(asked: Asked) -> Action:
    if asked.path == "/subscriptions" and asked.method == "GET":
        return Reply(200, {"items": LISTED, "next_cursor": None})
    return Reply(200, {"items": [], "next_cursor": None})


server = server_with(_respond)


@pytest.mark.parametrize("named", ["mine", FIRST])
def test_a_subscription_is_named_by_its_name_or_its_id(server: BadServer, named: str) -> None:
    assert lily(server, "notify", "explain", named, "change-7").exit_code == 0
    assert (server.asked[-1].path, server.asked[-1].params) == (
        f"/subscriptions/{FIRST}/explain",
        {"event": "change-7"},
    )


@pytest.mark.parametrize(("named", "problem"), [("theirs", f"2 subscriptions .*{SECOND}"), ("nix", "No subscription")])
def test_a_name_of_no_or_of_several_subscriptions_changes_nothing(server: BadServer, named: str, problem: str) -> None:
    done = lily(server, "notify", "unsubscribe", named)
    with pytest.raises(NoSubscription, match=problem):
        raise done.exception or AssertionError(done.output)
    assert {asked.method for asked in server.asked} == {"GET"}


def test_muted_notifications_are_listed_on_request(server: BadServer) -> None:
    lily(server, "notify", "list", "--muted")
    lily(server, "notify", "list")
    assert [asked.params.get("muted") for asked in server.asked] == ["true", None]


@pytest.mark.parametrize(
    ("destination", "step"), [("#data alerts", "lily notify test slack '#data alerts'"), ("@owners", None)]
)
def test_a_new_subscription_comes_with_the_test_of_its_destination(
    server: BadServer, tmp_path: Path, destination: str, step: str | None
) -> None:
    file = tmp_path / "subscription.toml"
    file.write_text(f'name = "n"\nchannel = "slack"\ndestination = "{destination}"\n')
    server.will(Reply(201, {"id": FIRST, "name": "n", "channel": "slack", "destination": destination}))
    shown = lily(server, "notify", "subscribe", str(file)).output
    assert f"n is created: {FIRST}" in shown
    assert (step in shown) if step else ("lily notify test" not in shown)


def test_a_notification_is_shown_with_what_became_of_each_delivery(server: BadServer) -> None:
    delivered = {"state": "delivered", "channel": "mail", "destination": "a@b.c", "attempts": 1, "error": ""}
    delivered |= {"delivered_at": "2026-01-01T08:00:00Z", "reason": ""}
    failed = delivered | {"state": "failed", "delivered_at": None, "error": "refused"}
    found = {"title": "Late", "text": "No rows", "muted": False, "deliveries": [delivered, failed]}
    server.will(Reply(200, found))
    assert lily(server, "notify", "show", FIRST).output.splitlines() == [
        "Late",
        "No rows",
        "delivered to a@b.c over mail at 2026-01-01T08:00:00Z, attempts: 1",
        "failed to a@b.c over mail, attempts: 1: refused",
    ]


def test_a_subscription_is_deleted_by_its_name(server: BadServer) -> None:
    assert "mine is removed" in lily(server, "notify", "unsubscribe", "mine").output
    assert (server.asked[-1].method, server.asked[-1].path) == ("DELETE", f"/subscriptions/{FIRST}")
