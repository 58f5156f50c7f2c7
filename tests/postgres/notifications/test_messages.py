"""What is sent of an event, once, and its receipt: the reaction and the job, without a worker."""

import json

from psycopg.types.json import Jsonb

from lily.bus import topics
from lily.notify.identities import notification_id
from lily.reactions.base import Event
from tests.postgres.notified import NOW, ORDERS, PEOPLE, Notified


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


def test_an_incident_of_a_quality_rule_is_listed_by_its_rule_and_by_its_family(notified: Notified) -> None:
    (found,) = notified.react(notified.incident(ORDERS, source="quality", kind="query_spike"))
    notified.react(notified.incident(ORDERS, number=2), first=2)
    for pattern in ("quality.query_spike", "quality.%"):
        assert [one["id"] for one in notified.listed(kind=pattern)] == [found]


def test_the_list_can_be_of_incidents_and_risks_or_of_everything_else(notified: Notified) -> None:
    notified.subscribe(filters={"kinds": ["asset.*", "risk.*"]})
    change = notified.changed(ORDERS, first=1)
    others = notified.react(notified.incident(ORDERS), notified.risk("at_risk", "sales"), first=2)
    assert [one["id"] for one in notified.listed(of_incidents=False)] == [change]
    assert [one["id"] for one in notified.listed(of_incidents=True)] == others[::-1]
    assert len(notified.listed()) == 3


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
