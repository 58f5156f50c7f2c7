"""What a subscription takes, and when: changes of it, quiet hours, groups and mutes."""

from typing import Any

import psycopg
from psycopg import sql

from tests.postgres.notified import ORDERS, PEOPLE, Notified


def test_changes_of_assets_are_sent_to_those_who_named_them_also_by_robots(notified: Notified) -> None:
    notified.subscribe(notified.receiver.at("deleted"), filters={"kinds": ["asset.deleted"]})
    notified.subscribe(notified.receiver.at("tags"), filters={"kinds": ["tag.*"]})
    notified.changed(ORDERS, "deleted", first=1)
    notified.changed(ORDERS, "updated", added=("PII",), first=2)
    notified.changed(ORDERS, "updated", first=3)
    notified.run()
    sent = [(one.path, one.body["kind"], one.body["text"].splitlines()[1]) for one in notified.receiver.taken]
    assert sorted(sent) == [("deleted", "asset.deleted", "by crawler"), ("tags", "tag.tagged", "by crawler")]
    assert len(notified.listed()) == 2


def test_the_relay_learns_which_changes_a_tenant_wants(notified: Notified) -> None:
    def wanted() -> Any:
        return notified.connection.execute(
            "select changes from subscribed_tenants where tenant_id = %s", [notified.tenant]
        ).fetchall()

    assert wanted() == [([],)]
    first = notified.subscribe(filters={"kinds": ["asset.*"]})
    notified.subscribe(filters={"kinds": ["tag.tagged"]})
    assert wanted() == [(["created", "deleted", "restored", "tagged", "updated"],)]
    notified.subscribe(identity=first, filters={"kinds": ["asset.*"]}, enabled=False)
    assert wanted() == [(["tagged"],)]


def test_a_tenant_can_be_deleted_with_what_it_subscribed_to(notified: Notified) -> None:
    notified.subscribe(filters={"kinds": ["asset.*"]})
    with psycopg.connect(notified.migrated.owner) as owner:
        for table in ("subscribed_tenants", "subscriptions", "notification_channels"):
            deleted = sql.SQL("delete from {} where tenant_id = %s").format(sql.Identifier(table))
            owner.execute(deleted, [notified.tenant])
        left = owner.execute("select from subscribed_tenants where tenant_id = %s", [notified.tenant]).fetchall()
        owner.rollback()
    assert left == []


def test_a_subscription_that_changes_takes_effect_with_the_next_event(notified: Notified) -> None:
    identity = notified.subscribe(filters={"kinds": ["incident.resolved"]})
    notified.react(notified.incident(ORDERS))
    assert notified.queued() == []
    notified.subscribe(identity=identity)
    notified.react(notified.incident(ORDERS, number=2), first=2)
    assert len(notified.queued()) == 1


def test_a_subscription_that_is_disabled_makes_nothing(notified: Notified) -> None:
    notified.subscribe(filters={"kinds": ["asset.updated"]}, enabled=False)
    notified.changed(ORDERS)
    assert (notified.listed(), notified.queued()) == ([], [])


def test_a_destination_gets_one_message_however_many_subscriptions_match(notified: Notified) -> None:
    notified.subscribe(name="first")
    notified.subscribe(name="second")
    (identity,) = notified.react(notified.incident(ORDERS))
    notified.run()
    assert len(notified.receiver.received) == 1
    assert sorted(one["state"] for one in notified.deliveries(identity)) == ["delivered", "suppressed"]


def test_in_quiet_hours_messages_are_held_unless_they_are_severe(notified: Notified) -> None:
    always = {"timezone": "UTC", "from": "00:00", "to": "00:00", "days": ["mon", "tue", "wed", "thu", "fri", "sat"]}
    weekend = {"timezone": "UTC", "from": "00:00", "to": "00:00", "days": ["sun"]}
    for hours in (always, weekend):  # one of them is now
        notified.subscribe(
            notified.receiver.at("x"), quiet_hours={**hours, "except_severity": "critical"}, name=str(hours)
        )
    (severe,) = notified.react(notified.incident(ORDERS))
    assert all(one["state"] != "held" for one in notified.deliveries(severe))
    (mild,) = notified.react(notified.incident(ORDERS, number=2, severity="warning"), first=2)
    states = {one["state"] for one in notified.deliveries(mild)}
    assert "held" in states
    held = next(one for one in notified.deliveries(mild) if one["state"] == "held")
    assert "quiet hours until" in held["reason"]
    notified.run()
    assert mild not in {one.key for one in notified.receiver.taken} or "waiting" in states
    notified.due()
    notified.run()
    assert mild in {one.key for one in notified.receiver.taken}


def test_what_matches_within_the_window_is_one_message_with_a_receipt_each(notified: Notified) -> None:
    notified.subscribe(group={"seconds": 600})
    first = notified.react(*(notified.incident(ORDERS, number=number) for number in range(3)))
    second = notified.react(notified.incident(PEOPLE, number=9), first=50)
    assert len(notified.queued()) == 1
    assert notified.run() == 0
    notified.due()
    notified.run()
    (message,) = notified.receiver.taken
    assert message.title == "4 notifications: Incident opened: Late data 0"
    assert set(message.body["assets"]) == {ORDERS, PEOPLE}
    receipts = [notified.delivery(identity) for identity in (*first, *second)]
    assert {one["state"] for one in receipts} == {"delivered"}
    assert receipts[0]["sent_with"] is None
    assert {one["sent_with"] for one in receipts[1:]} == {receipts[0]["id"]}
    notified.react(notified.incident(ORDERS, number=10), first=60)
    assert len(notified.queued()) == 1  # a new window


def test_nothing_joins_a_group_that_is_being_sent(notified: Notified) -> None:
    notified.subscribe(group={"seconds": 600})
    (first,) = notified.react(notified.incident(ORDERS))
    lead = notified.delivery(first)["id"]
    with psycopg.connect(notified.migrated.url_of("lily_pipeline")) as sending:
        sending.execute("select from deliveries where delivery_id = %s for update", [lead])
        (second,) = notified.react(notified.incident(ORDERS, number=2), first=2)
    assert notified.delivery(second)["sent_with"] is None
    assert len(notified.queued()) == 2


def test_a_mute_suppresses_and_is_shown(notified: Notified) -> None:
    notified.subscribe()
    muted = notified.wait(
        notified.administration.create_mute(
            "00000000-0000-4000-8000-000000000001",
            asset=notified.world.id_of(ORDERS),
            kind=None,
            until=None,
            reason="migration",
        )
    )
    assert muted is not None
    (identity,) = notified.react(notified.incident(ORDERS))
    (other,) = notified.react(notified.incident(PEOPLE, number=2), first=2)
    notified.run()
    assert [one.key for one in notified.receiver.taken] == [other]
    receipt = notified.delivery(identity)
    assert receipt["state"] == "suppressed"
    assert "migration" in receipt["reason"]
    assert [one["id"] for one in notified.listed(muted=True)] == [identity]


def test_what_waits_for_a_subscription_that_is_deleted_or_disabled_is_not_sent(notified: Notified) -> None:
    gone, off = notified.subscribe(notified.receiver.at("a")), notified.subscribe(notified.receiver.at("b"))
    (identity,) = notified.react(notified.incident(ORDERS))
    assert notified.wait(notified.administration.delete_subscription(gone))
    notified.subscribe(notified.receiver.at("b"), identity=off, enabled=False)
    notified.run()
    assert notified.receiver.received == []
    assert {one["reason"] for one in notified.deliveries(identity)} == {
        "the subscription was deleted",
        "the subscription is disabled",
    }
