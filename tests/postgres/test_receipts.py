"""What stays of notifications: receipts, acknowledgements, threads, the audit of changes, and for how long."""

import uuid
from datetime import timedelta
from typing import Any

import psycopg

from lily.store.postgres.notifications import panel
from lily.store.postgres.notifications.ledger import delete_old_notifications
from tests.postgres.notified import Notified

ORDERS = "shop.public.orders"
RARELY = {"timezone": "UTC", "from": "00:00", "to": "00:01", "except_severity": "critical"}


def test_a_receipt_names_the_channel_and_the_destination(notified: Notified) -> None:
    for path in ("a", "b"):
        notified.subscribe(notified.receiver.at(path))
    (identity,) = notified.react(notified.incident(ORDERS))
    notified.run()
    found = {(one["channel"], one["destination"]) for one in notified.deliveries(identity)}
    assert found == {("posts", notified.receiver.at("a")), ("posts", notified.receiver.at("b"))}


def test_the_first_acknowledgement_counts(notified: Notified) -> None:
    (identity,) = notified.react(notified.incident(ORDERS))

    def acknowledged(by: str, of: str = identity) -> tuple[str, str] | None:
        return notified.wait(panel.acknowledge(notified.database, notified.tenant, of, by))

    first = acknowledged("ann")
    assert first is not None
    assert (first[0], acknowledged("bob")) == ("ann", first)
    assert acknowledged("ann", str(uuid.uuid4())) is None
    assert [one["acknowledged_by"] for one in notified.listed(acknowledged=True)] == ["ann"]


def test_every_change_of_an_administrator_is_audited(notified: Notified, owner: psycopg.Connection) -> None:
    mute = str(uuid.uuid4())
    subscription = notified.subscribe()
    notified.mention("ann", slack="U1")
    changes: list[Any] = [
        notified.administration.create_mute(mute, asset=None, kind="risk.*", until=None, reason=""),
        notified.administration.delete_mute(mute),
        notified.administration.delete_mention("ann"),
        notified.administration.delete_subscription(subscription),
        notified.administration.delete_subscription(subscription),
        notified.administration.remove_channel("posts"),
    ]
    assert [bool(notified.wait(one)) for one in changes] == [True, True, True, True, False, True]
    rows = owner.execute(
        "select action, correlation from audit where tenant_id = %s and principal = 'tester' order by number",
        [notified.tenant],
    ).fetchall()
    assert {correlation for _, correlation in rows} == {"c"}
    assert [action for action, _ in rows] == [
        "channel.added",
        "subscription.put",
        "mention.created",
        "mute.created",
        "mute.deleted",
        "mention.deleted",
        "subscription.deleted",
        "channel.removed",
    ]


def test_old_notifications_go_with_their_receipts_unless_one_is_still_to_be_sent(notified: Notified) -> None:
    notified.subscribe()
    sent, *unsent = notified.react(*(notified.incident(ORDERS, number=number) for number in range(4)))
    notified.run()
    for identity, state in zip(unsent, ("waiting", "held", "grouped"), strict=True):
        notified.connection.execute(
            "update deliveries set state = %s where tenant_id = %s and notification_id = %s",
            [state, notified.tenant, identity],
        )
    notified.connection.execute(
        "update notifications set created_at = now() - interval '90 days' where tenant_id = %s", [notified.tenant]
    )
    (new,) = notified.react(notified.incident(ORDERS, number=9), first=9)
    delete_old_notifications(notified.connection, timedelta(days=30))
    assert {one["id"] for one in notified.listed()} == {*unsent, new}
    assert notified.deliveries(sent) == []
    assert all(notified.deliveries(identity) for identity in (*unsent, new))


def test_nothing_joins_a_group_whose_time_is_over(notified: Notified) -> None:
    notified.subscribe(group={"seconds": 600})
    (first,) = notified.react(notified.incident(ORDERS))
    notified.connection.execute(
        "update deliveries set due_at = clock_timestamp() - interval '1 second' where tenant_id = %s", [notified.tenant]
    )
    (second,) = notified.react(notified.incident(ORDERS, number=2), first=2)
    assert [notified.delivery(one)["sent_with"] for one in (first, second)] == [None, None]
    assert len(notified.queued()) == 2


def test_what_is_severe_enough_for_quiet_hours_waits_for_no_group_either(notified: Notified) -> None:
    notified.subscribe(group={"seconds": 600}, quiet_hours=RARELY)
    (mild,) = notified.react(notified.incident(ORDERS, severity="warning"))
    (severe,) = notified.react(notified.incident(ORDERS, number=2), first=2)
    assert notified.run() == 1
    assert [one.key for one in notified.receiver.taken] == [severe]
    assert notified.delivery(mild)["state"] != "delivered"


def test_each_destination_continues_its_own_thread(notified: Notified) -> None:
    for path in ("a", "b"):
        notified.subscribe(notified.receiver.at(path))
    notified.receiver.answer = lambda one: (201, {"Location": f"issue-{one.path}"})
    notified.react(notified.incident(ORDERS))
    notified.run()
    notified.receiver.taken.clear()
    notified.react(notified.incident(ORDERS, state="resolved", previous="open"), first=2)
    notified.run()
    previous = {one.path: one.body["data"]["previous"] for one in notified.receiver.taken}
    assert previous == {"a": "issue-a", "b": "issue-b"}


def test_a_thread_that_a_probe_began_is_continued_in_the_same_run(notified: Notified) -> None:
    notified.subscribe()
    notified.receiver.fail(503)
    notified.react(notified.incident(ORDERS), notified.incident(ORDERS, state="acknowledged", previous="open"))
    notified.run()
    notified.receiver.answer = lambda _: (201, {"Location": "issue-1"})
    notified.due()
    notified.run()
    assert [one.body["data"]["previous"] for one in notified.receiver.taken] == ["", "issue-1"]
