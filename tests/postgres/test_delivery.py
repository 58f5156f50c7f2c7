"""Deliveries to receivers that fail: what is repeated, what waits, what is given up, and that nothing is lost."""

from typing import Any

import psycopg
import pytest

from lily.reactions.notifications import sending
from lily.store.postgres.dead_letters import records
from tests.notification_receiver import Received
from tests.postgres.notified import Notified, connected, incidents, states


def test_a_receiver_that_fails_is_paused_and_gets_the_same_message_again(notified: Notified) -> None:
    notified.subscribe()
    notified.receiver.fail(503)
    (identity,) = incidents(notified, 1)
    notified.run()
    receipt = notified.delivery(identity)
    assert (receipt["state"], receipt["attempts"]) == ("waiting", 1)
    assert "503" in receipt["error"]
    assert receipt["paused_until"] is not None
    ((*_, waits),) = notified.queued()
    assert waits > 0
    assert notified.run() == 0
    (failing,) = notified.shown_channel()["failing"]
    assert failing["failures"] == 1
    notified.receiver.work()
    notified.due()
    notified.run()
    assert {one.key for one in notified.receiver.received} == {identity}
    receipt = notified.delivery(identity)
    assert (receipt["state"], receipt["attempts"], receipt["error"]) == ("delivered", 2, "")
    assert notified.shown_channel()["failing"] == []


def test_what_was_delivered_is_not_repeated_because_others_failed(notified: Notified) -> None:
    notified.subscribe()
    failing = {"Incident opened: Late data 3"}
    notified.receiver.answer = lambda one: (500 if one.title in failing else 204, {})
    identities = incidents(notified, 5)
    notified.run()
    assert states(notified, identities)["delivered"] == 4
    failing.clear()
    notified.due()
    notified.run()
    assert states(notified, identities) == {"delivered": 5}
    assert sorted(notified.receiver.titles()) == [f"Incident opened: Late data {number}" for number in range(1, 6)]


def test_after_a_failure_one_message_probes_before_the_rest_follows(notified: Notified) -> None:
    notified.subscribe()
    notified.receiver.fail(500)
    identities = incidents(notified, 40)
    notified.run()
    at_first = len(notified.receiver.received)
    assert at_first <= sending.AT_ONCE
    for _ in range(3):
        notified.due()
        notified.run()
    assert len(notified.receiver.received) == at_first + 3
    notified.receiver.work()
    notified.due()
    notified.run()
    assert states(notified, identities) == {"delivered": 40}
    assert sorted(set(notified.receiver.titles())) == sorted(notified.receiver.titles())


def test_a_receiver_that_fails_delays_no_other(notified: Notified) -> None:
    notified.subscribe(notified.receiver.at("down"), name="down")
    notified.subscribe(notified.receiver.at("up"), name="up")
    notified.receiver.answer = lambda one: (500 if one.path == "down" else 204, {})
    for number in range(1, 6):
        incidents(notified, 10, first=number * 100)
        notified.run()
    assert len(notified.receiver.taken) == 50
    calls = [one for one in notified.receiver.received if one.path == "down"]
    assert len(calls) <= 2 * 50


def test_a_receiver_that_asks_for_a_pause_gets_it(notified: Notified) -> None:
    notified.subscribe()
    notified.receiver.fail(429, **{"Retry-After": "120"})
    incidents(notified, 1)
    notified.run()
    ((*_, waits),) = notified.queued()
    assert 100 < waits <= 121


def test_what_the_receiver_refuses_is_a_dead_letter_that_can_be_replayed(notified: Notified) -> None:
    notified.subscribe()
    notified.receiver.fail(404)
    (identity,) = incidents(notified, 1)
    notified.run()
    assert notified.delivery(identity)["state"] == "failed"
    ((letter, cause),) = notified.dead_letters()
    assert "404" in cause
    assert notified.queued() == []
    notified.receiver.work()
    assert notified.wait(records.replay_jobs(notified.database, notified.tenant, [letter])) == [letter]
    notified.run()
    receipt = notified.delivery(identity)
    assert (receipt["state"], receipt["attempts"]) == ("delivered", 1), "a replay counts anew"
    assert {one.key for one in notified.receiver.received} == {identity}


def test_a_destination_that_refuses_everything_is_shown_as_failing_until_a_message_arrives(notified: Notified) -> None:
    subscription = notified.subscribe()
    notified.receiver.fail(404)
    incidents(notified, 1)
    notified.run()
    (failing,) = notified.shown_channel()["failing"]
    assert "404" in failing["error"]
    assert (failing["paused_until"], failing["gone"]) == (None, False)
    assert failing["failed_at"] is not None
    notified.receiver.work()
    incidents(notified, 1, first=10)
    notified.run()
    assert notified.shown_channel()["failing"] == []
    notified.receiver.fail(404)
    incidents(notified, 1, first=20)
    notified.run()
    assert len(notified.shown_channel()["failing"]) == 1
    assert notified.wait(notified.administration.delete_subscription(subscription))
    assert notified.shown_channel()["failing"] == []  # nothing is sent there any more


def test_a_refusal_does_not_hold_up_the_messages_behind_it(notified: Notified) -> None:
    notified.subscribe()
    notified.receiver.answer = lambda one: (400 if one.title.endswith(" 1") else 204, {})
    identities = incidents(notified, 3)
    notified.run()
    assert states(notified, identities) == {"delivered": 2, "failed": 1}
    assert len(notified.dead_letters()) == 1
    assert notified.shown_channel()["failing"] == []


def test_a_replay_that_fails_once_more_is_tried_again(notified: Notified) -> None:
    notified.subscribe(group={"seconds": 600})
    notified.receiver.fail(404)
    identities = incidents(notified, 2)
    notified.due()
    notified.run()
    ((letter, _),) = notified.dead_letters()
    notified.receiver.fail(503)
    assert notified.wait(records.replay_jobs(notified.database, notified.tenant, [letter]))
    for _ in range(2):
        notified.run()
        notified.due()
    assert [notified.delivery(one)["attempts"] for one in identities] == [2, 2], "a replay counts anew"
    assert states(notified, identities) == {"grouped": 1, "waiting": 1}
    notified.receiver.work()
    notified.run()
    assert states(notified, identities) == {"delivered": 2}
    assert len(notified.receiver.taken) == 1


def test_what_the_receiver_refused_is_not_sent_again_with_what_waits(notified: Notified) -> None:
    notified.subscribe()
    answers = {"Incident opened: Late data 1": 400, "Incident opened: Late data 2": 503}
    notified.receiver.answer = lambda one: (answers.get(one.title, 204), {})
    refused, waits = incidents(notified, 2)
    notified.run()
    notified.receiver.work()
    notified.due()
    notified.run()
    assert [notified.delivery(one)["state"] for one in (refused, waits)] == ["failed", "delivered"]
    assert len(notified.dead_letters()) == 1


def test_a_group_that_failed_is_replayed_with_all_of_its_receipts(notified: Notified) -> None:
    notified.subscribe(group={"seconds": 600})
    notified.receiver.fail(404)
    identities = incidents(notified, 3)
    notified.due()
    notified.run()
    assert states(notified, identities) == {"failed": 3}
    ((letter, _),) = notified.dead_letters()
    notified.receiver.work()
    assert notified.wait(records.replay_jobs(notified.database, notified.tenant, [letter]))
    notified.run()
    assert states(notified, identities) == {"delivered": 3}
    (message,) = notified.receiver.taken
    assert message.title.startswith("3 notifications")


def test_a_receiver_that_hangs_counts_as_one_that_fails(notified: Notified, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "DELIVER_SECONDS", 0.05)
    notified.subscribe("http://127.0.0.1:9/never")

    async def hang(*_: Any) -> str:
        import asyncio  # noqa: PLC0415

        await asyncio.sleep(3600)
        return ""

    monkeypatch.setattr("tests.sample_plugins.notifier.Notifier.deliver", hang)
    (identity,) = incidents(notified, 1)
    notified.run()
    assert "no response within" in notified.delivery(identity)["error"]
    assert len(notified.queued()) == 1


def test_a_channel_that_breaks_its_port_is_reported_without_its_secrets(
    notified: Notified, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> str:
        raise ValueError("password=hunter2")

    monkeypatch.setattr("tests.sample_plugins.notifier.Notifier.deliver", broken)
    notified.subscribe()
    (identity,) = incidents(notified, 1)
    notified.run()
    error = notified.delivery(identity)["error"]
    assert "ValueError" in error
    assert "hunter2" not in error


def test_a_receiver_that_wants_no_more_gets_no_more_until_a_test_arrives(notified: Notified) -> None:
    from lily.store.postgres.subscriptions.administration import request_test  # noqa: PLC0415

    notified.subscribe()
    notified.receiver.fail(410)
    identities = incidents(notified, 1)
    notified.run()
    identities += incidents(notified, 1, first=10)
    notified.run()
    assert len(notified.receiver.received) == 1
    assert states(notified, identities) == {"failed": 2}
    assert notified.shown_channel()["failing"][0]["gone"]
    assert "/test" in notified.delivery(identities[1])["error"]
    notified.receiver.work()
    assert notified.wait(request_test(notified.database, notified.tenant, "posts", notified.receiver.at("ok"), "r"))
    notified.run()
    identities += incidents(notified, 1, first=20)
    notified.run()
    assert states(notified, identities) == {"delivered": 1, "failed": 2}


def test_no_more_is_sent_to_a_destination_than_its_rate_limit(notified: Notified) -> None:
    assert notified.channel("Slow", per_second=5)
    notified.subscribe(channel="Slow")
    identities = incidents(notified, 20)
    notified.run()
    sent = len(notified.receiver.received)
    assert 5 <= sent <= 10  # a burst of a second, and what time has passed
    assert states(notified, identities)["waiting"] == 20 - sent
    for _ in range(20):
        notified.due()
        notified.run()
    assert states(notified, identities) == {"delivered": 20}


def test_a_channel_that_was_removed_is_named_with_the_remedy(notified: Notified) -> None:
    notified.subscribe()
    (identity,) = incidents(notified, 1)
    notified.connection.execute("delete from notification_channels where tenant_id = %s", [notified.tenant])
    notified.run()
    assert "POST /channels" in notified.delivery(identity)["error"]
    assert len(notified.dead_letters()) == 1


def test_a_group_that_cannot_be_sent_at_all_is_one_dead_letter(notified: Notified) -> None:
    notified.subscribe(group={"seconds": 600})
    identities = incidents(notified, 3)
    notified.connection.execute("delete from notification_channels where tenant_id = %s", [notified.tenant])
    notified.due()
    notified.run()
    assert states(notified, identities) == {"failed": 3}
    assert len(notified.dead_letters()) == 1


def test_a_connection_that_is_lost_in_mid_delivery_loses_nothing(notified: Notified) -> None:
    """The receiver has the message, but the receipt was not committed: it is sent again, with the same id."""
    notified.subscribe()
    (identity,) = incidents(notified, 1)
    backend = notified.connection.info.backend_pid

    def cut(_: Received) -> tuple[int, dict[str, str]]:
        with psycopg.connect(notified.migrated.owner, autocommit=True) as connection:
            connection.execute("select pg_terminate_backend(%s)", [backend])
        return 204, {}

    notified.receiver.answer = cut
    with pytest.raises(psycopg.OperationalError):
        notified.run()
    notified.connection = connected(notified.migrated)
    assert notified.delivery(identity)["state"] == "waiting"
    notified.receiver.work()
    notified.run()
    assert [one.key for one in notified.receiver.received] == [identity, identity]
    assert notified.delivery(identity)["state"] == "delivered"


def test_a_new_configuration_is_used_for_the_next_message(notified: Notified) -> None:
    notified.subscribe()
    incidents(notified, 1)
    notified.run()
    before = dict(notified.pool._kept)
    incidents(notified, 1, first=2)
    notified.run()
    assert dict(notified.pool._kept) == before
    from lily.store.postgres.subscriptions.administration import NewChannel  # noqa: PLC0415

    changed = NewChannel("posts", "Posts", "notifier", 100.0, None, None)
    assert notified.wait(notified.administration.replace_channel(changed))
    incidents(notified, 1, first=3)
    notified.run()
    assert dict(notified.pool._kept) != before
    assert len(notified.receiver.taken) == 3
