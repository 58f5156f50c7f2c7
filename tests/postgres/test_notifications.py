"""Who is notified of an event, what is sent, and the receipts: the reaction and the job, without a worker."""

import json
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from lily.bus import topics
from lily.notify.identities import notification_id
from lily.reactions.base import Event
from tests.postgres.migrated import Migrated
from tests.postgres.notified import NOW, Notified

ORDERS, PEOPLE = "shop.public.orders", "shop.public.people"


def test_an_incident_is_delivered_with_a_receipt(notified: Notified) -> None:
    subscription = notified.subscribe()
    notified.receiver.answer = lambda _: (201, {"Location": "ticket-7"})
    (identity,) = notified.react(notified.incident(ORDERS))
    assert notified.run() == 1
    (message,) = notified.receiver.taken
    assert (message.key, message.body["kind"], message.body["tenant"]) == (identity, "incident.opened", notified.tenant)
    assert message.title == "Incident opened: Late data 1"
    assert message.body["assets"] == [ORDERS]
    incident = notified.incident(ORDERS)["incident"]["incident_id"]
    assert message.body["url"] == f"https://lily.example/#/incidents/{incident}"
    receipt = notified.delivery(identity)
    assert (receipt["state"], receipt["receiver_id"], receipt["attempts"]) == ("delivered", "ticket-7", 1)
    assert receipt["subscription"] == subscription
    assert receipt["delivered_at"] is not None
    assert notified.queued() == []


def test_an_event_that_the_log_repeats_is_sent_once(notified: Notified) -> None:
    notified.subscribe()
    for _ in range(2):
        notified.react(notified.incident(ORDERS))
    assert notified.run() == 1
    assert len(notified.receiver.received) == 1
    assert len(notified.listed()) == 1


def test_an_event_that_comes_twice_at_once_is_sent_once_under_its_own_id(notified: Notified) -> None:
    """The relay repeats what it had published when it was killed."""
    notified.subscribe()
    record = {"id": "change-1", "time": NOW, "data": notified.incident(ORDERS)}
    event = Event(topics.NOTIFICATIONS, 0, 0, notified.key, json.dumps(record).encode())
    notified.handle(event, event)
    ((_, _, arguments, _),) = notified.queued()
    assert len(arguments["deliveries"]) == 1
    notified.connection.execute(  # as jobs are that were queued before
        "update queued_jobs set arguments = jsonb_set(arguments, '{deliveries}', %s) where tenant_id = %s",
        [Jsonb(arguments["deliveries"] * 2), notified.tenant],
    )
    notified.run()
    (message,) = notified.receiver.taken
    assert message.key == notification_id(notified.tenant, "change-1")


def test_incidents_are_listed_without_a_subscription_and_other_events_are_not(notified: Notified) -> None:
    tagged = {
        "change": "tagged",
        "root": "r",
        "cause": {"tag": "PII"},
        "assets": [[notified.world.id_of(ORDERS), "", ""]],
    }
    notified.react(notified.incident(ORDERS), tagged)
    assert [one["kind"] for one in notified.listed()] == ["incident.opened"]
    assert notified.queued() == []


def test_filters_look_at_tags_owners_and_ancestors_of_the_store(notified: Notified) -> None:
    world = notified.world
    world.typed("schema", "shop.public", owner="ann")
    world.asset(ORDERS, parent="shop.public", tags=["PII"])
    world.column(f"{ORDERS}.mail", ORDERS)
    for name, filters in {
        "tag": {"tags": ["pii"]},
        "owner": {"owners": ["Ann"]},
        "parent": {"assets": ["shop.public"]},
        "other": {"tags": ["GDPR"]},
        "type": {"entity_types": ["dashboard"]},
    }.items():
        notified.subscribe(notified.receiver.at(name), filters=filters)
    notified.react(notified.incident(f"{ORDERS}.mail"))
    notified.run()
    assert {one.path for one in notified.receiver.taken} == {"tag", "owner", "parent"}


def test_what_is_downstream_and_its_owners_are_found_along_lineage(notified: Notified) -> None:
    world = notified.world
    world.asset(ORDERS, owner="ann")
    world.asset("mart.orders", owner="bi-team")
    world.typed("dashboard", "sales", owner="sales-team")
    world.edge(ORDERS, "mart.orders")
    world.edge("mart.orders", "sales", "used-in")
    world.edge("sales", ORDERS)  # a cycle
    world.settle()
    for owner in ("ann", "bi-team", "sales-team"):
        notified.mention(owner, notifier=notified.receiver.at(owner))
    notified.subscribe(notified.receiver.at("downstream"), filters={"downstream_of": ["mart.orders"]})
    notified.subscribe("@owners", filters={"kinds": ["incident.opened"]}, name="direct")
    notified.subscribe("@owners", filters={"kinds": ["incident.resolved"], "downstream_owners": True}, name="all")
    notified.react(notified.incident("sales"))
    notified.run()
    assert {one.path for one in notified.receiver.taken} == {"downstream", "sales-team"}
    notified.receiver.taken.clear()
    notified.react(notified.incident(ORDERS, state="resolved", previous="open"), first=2)
    notified.run()
    assert {one.path for one in notified.receiver.taken} == {"downstream", "ann", "bi-team", "sales-team"}


def test_an_asset_of_an_incident_is_not_reported_again_as_at_risk(notified: Notified) -> None:
    notified.subscribe()
    notified.subscribe(notified.receiver.at("orders"), filters={"assets": [ORDERS]})
    notified.react(
        notified.incident(ORDERS),
        notified.risk("at_risk", "sales", own=(ORDERS,)),
        notified.incident(ORDERS, state="resolved", previous="open"),
        notified.risk("clear", "sales", own=(ORDERS,), state="resolved"),
    )
    notified.run()
    sent = [(one.path, one.title, one.body["assets"]) for one in notified.receiver.taken]
    assert sorted(one for one in sent if one[0] == "ok") == [
        ("ok", "At risk: sales", ["sales"]),
        ("ok", "Incident opened: Late data 1", [ORDERS]),
        ("ok", "Incident resolved: Late data 1", [ORDERS]),
        ("ok", "No longer at risk: sales", ["sales"]),
    ]
    assert {title for path, title, _ in sent if path == "orders"} == {
        "Incident opened: Late data 1",
        "Incident resolved: Late data 1",
    }


def test_an_edge_that_was_removed_leads_to_nothing(notified: Notified) -> None:
    world = notified.world
    for name in (ORDERS, "mart.orders", "mart.other"):
        world.asset(name)
    for name in ("mart.orders", "mart.other"):
        world.edge(ORDERS, name)
    world.unlink(ORDERS, "mart.other")
    world.settle()
    notified.subscribe(filters={"downstream_of": [ORDERS]})
    (linked,) = notified.react(notified.incident("mart.orders"))
    notified.react(notified.incident("mart.other", number=2), first=2)
    notified.run()
    assert [one.key for one in notified.receiver.taken] == [linked]


def test_a_tag_that_is_suppressed_does_not_match(notified: Notified) -> None:
    world = notified.world
    world.asset(ORDERS, tags=["PII"])
    for name in ("mart.orders", "mart.masked"):
        world.asset(name)
        world.edge(ORDERS, name)
    world.person("mart.masked", "suppress", tag="PII", reason="masked")
    world.settle()
    notified.subscribe(filters={"tags": ["PII"]})
    (tagged,) = notified.react(notified.incident("mart.orders"))
    notified.react(notified.incident("mart.masked", number=2), first=2)
    notified.run()
    assert [one.key for one in notified.receiver.taken] == [tagged]


def test_an_asset_without_an_owner_has_that_of_its_nearest_ancestor(notified: Notified) -> None:
    world = notified.world
    world.typed("database", "shop", owner="bob")
    world.typed("schema", "shop.public", owner="ann", parent="shop")
    world.asset(ORDERS, parent="shop.public")
    for owner in ("ann", "bob"):
        notified.subscribe(notified.receiver.at(owner), filters={"owners": [owner]})
    notified.react(notified.incident(ORDERS))
    notified.run()
    assert [one.path for one in notified.receiver.taken] == ["ann"]


def test_a_message_to_owners_does_not_mention_them_as_well(notified: Notified) -> None:
    notified.world.asset(ORDERS, owner="ann")
    notified.mention("ann", notifier=notified.receiver.at("ann"))
    notified.subscribe("@owners")
    notified.react(notified.incident(ORDERS))
    notified.run()
    assert [(one.path, one.body["mentions"]) for one in notified.receiver.taken] == [("ann", [])]


def test_owners_without_a_handle_are_reported(notified: Notified) -> None:
    notified.world.asset(ORDERS, owner="ann")
    notified.subscribe("@owners")
    (identity,) = notified.react(notified.incident(ORDERS))
    receipt = notified.delivery(identity)
    assert receipt["state"] == "suppressed"
    assert "ann" in receipt["reason"]
    assert "/mentions" in receipt["reason"]
    assert notified.queued() == []


def test_owners_are_mentioned_by_the_handle_of_the_channel(notified: Notified) -> None:
    notified.world.asset(ORDERS, owner="ann")
    notified.mention("Ann", notifier="@U1", slack="@U2")
    notified.subscribe(template={"title": "{{ incident.title }} of {{ asset.name }}", "text": "{{ mentions }} look"})
    notified.react(notified.incident(ORDERS))
    notified.run()
    (message,) = notified.receiver.taken
    assert message.title == f"Late data 1 of {ORDERS}"
    assert message.body["text"] == "@ann look"
    assert message.body["mentions"] == [["ann", "@U1"]]


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


def test_an_incident_of_a_quality_rule_is_listed_by_its_rule_and_by_its_family(notified: Notified) -> None:
    (found,) = notified.react(notified.incident(ORDERS, source="quality", kind="query_spike"))
    notified.react(notified.incident(ORDERS, number=2), first=2)
    for pattern in ("quality.query_spike", "quality.%"):
        assert [one["id"] for one in notified.listed(kind=pattern)] == [found]


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


def test_later_notifications_continue_the_thread_of_an_incident(notified: Notified) -> None:
    notified.subscribe()
    numbers = iter(range(1, 10))
    notified.receiver.answer = lambda _: (201, {"Location": f"issue-{next(numbers)}"})
    notified.react(
        notified.incident(ORDERS),
        notified.incident(PEOPLE, number=2),
        notified.incident(ORDERS, state="acknowledged", previous="open"),
    )
    notified.run()
    notified.react(notified.incident(ORDERS, state="resolved", previous="acknowledged"), first=9)
    notified.run()
    of_first = [one.body["data"] for one in notified.receiver.taken if one.body["assets"] == [ORDERS]]
    opened, *later = of_first
    assert [one["state"] for one in of_first] == ["open", "acknowledged", "resolved"]
    assert opened["previous"] == ""
    receipts = {
        one["data"]["previous"] for one in [m.body for m in notified.receiver.taken] if one["assets"] == [ORDERS]
    }
    assert len(receipts - {""}) == 1
    assert {one["previous"] for one in later} == receipts - {""}


def test_a_tenant_neither_sees_nor_gets_anothers_notifications(
    notified: Notified, other: Notified, migrated: Migrated
) -> None:
    for one in (notified, other):
        one.subscribe(one.receiver.at(one.tenant))
    (identity,) = notified.react(notified.incident(ORDERS))
    notified.run()
    other.run()
    assert [one.path for one in notified.receiver.taken] == [notified.tenant]
    assert other.listed() == []
    assert other.deliveries(identity) == []
    with psycopg.connect(migrated.url_of("lily_api"), autocommit=True) as connection, connection.transaction():
        connection.execute("select set_config('lily.tenant', %s, true)", [other.tenant])
        for table in ("notifications", "deliveries", "delivery_targets", "subscriptions", "mentions"):
            counted = sql.SQL("select count(*) from {} where tenant_id = %s").format(sql.Identifier(table))
            assert connection.execute(counted, [notified.tenant]).fetchone() == (0,)


def test_the_api_cannot_read_a_configuration_back(notified: Notified, migrated: Migrated) -> None:
    with psycopg.connect(migrated.url_of("lily_api"), autocommit=True) as connection:
        connection.execute("select set_config('lily.tenant', %s, false)", [notified.tenant])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select sealed from notification_channels")
        assert connection.execute("select name from notification_channels").fetchall() == [("Posts",)]


def test_a_configuration_that_was_moved_to_another_tenant_is_not_used(notified: Notified, other: Notified) -> None:
    other.subscribe()
    other.connection.execute(
        "update notification_channels set (wrapped_key, sealed, version) = "
        "(select wrapped_key, sealed, 99 from notification_channels where tenant_id = %s) where tenant_id = %s",
        [notified.tenant, other.tenant],
    )
    (identity,) = other.react(other.incident(ORDERS))
    other.run()
    assert other.receiver.received == []
    assert "cannot be decrypted" in other.delivery(identity)["error"]


def test_a_test_reports_what_the_receiver_returned(notified: Notified) -> None:
    from lily.store.postgres.subscriptions.administration import request_test  # noqa: PLC0415 - one test needs it

    notified.receiver.answer = lambda _: (201, {"Location": "message-3"})
    where = notified.receiver.at("trial")
    assert notified.wait(request_test(notified.database, notified.tenant, "posts", where, "request-1"))
    notified.run()
    shown = notified.shown_channel()["test"]
    assert (shown["delivered"], shown["receiver_id"], shown["request"]) == (True, "message-3", "request-1")
    assert notified.receiver.taken[0].title == "Test of the channel Posts"
    notified.receiver.fail(404)
    assert notified.wait(request_test(notified.database, notified.tenant, "posts", where, "request-2"))
    notified.run()
    shown = notified.shown_channel()["test"]
    assert not shown["delivered"]
    assert "404" in shown["error"]
    assert notified.dead_letters() == []
    notified.receiver.fail(500)
    assert notified.wait(request_test(notified.database, notified.tenant, "posts", where, "request-3"))
    notified.run()
    assert notified.shown_channel()["test"]["error"].endswith("A notification would be tried again.")
