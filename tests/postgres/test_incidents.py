"""Incidents in a real PostgreSQL: merged, attached to assets, announced once."""

from datetime import timedelta

import psycopg
import pytest

from lily.bus import topics
from lily.incidents import IncidentStatement, SeriesPassed, incident_id
from lily.model import clock
from lily.model.errors import Refused
from lily.model.ids import asset_id
from lily.store.postgres.incidents.retention import delete_old_history
from tests.monte_carlo import anomaly, feedback, message
from tests.postgres.incidents import IncidentWorld, monte_carlo

EARLY, LATE, LATER = (f"2026-01-0{day}T00:00:00.000000Z" for day in (1, 2, 3))


def test_a_webhook_becomes_an_incident_on_the_asset_that_it_names(incidents: IncidentWorld) -> None:
    incidents.world.asset("shop.public.orders")
    incidents.handle(incidents.webhook(anomaly("SHOP:public.ORDERS", incident="1")))
    found = incidents.incidents()["1"]
    assert (found["state"], found["severity"], found["source"]) == ("open", "warning", "monte-carlo")
    assert incidents.assets("1") == {"shop.public.orders"}
    assert incidents.unmatched() == set()
    assert incidents.looks() == 0


def test_an_incident_that_is_resolved_before_it_was_opened_stays_resolved(incidents: IncidentWorld) -> None:
    incidents.handle(incidents.webhook(feedback("fixed", incident="1"), time=EARLY))
    incidents.handle(incidents.webhook(anomaly("shop.orders", incident="1"), time=LATE))
    found = incidents.incidents()["1"]
    assert (found["state"], found["title"]) == ("resolved", "No rows for 12 hours")
    assert found["resolved_at"] == found["opened_at"]


def test_a_change_is_announced_with_its_previous_state_and_recorded_for_governance(incidents: IncidentWorld) -> None:
    incidents.world.asset("shop.orders")
    incidents.say(monte_carlo("1", state="open", title="Late", url="https://x/1", tables=("shop.orders",)))
    one = incident_id(incidents.tenant, "monte-carlo", "1")
    published = incidents.published()
    assert [(sent.topic, sent.key) for sent in published] == [
        (topics.NOTIFICATIONS, f"{incidents.tenant}/{one}".encode()),
        (topics.GOVERNANCE, f"{incidents.tenant}/{one}".encode()),
    ]
    event, record = (sent.event for sent in published)
    assert event["type"] == "lily.incident.changed"
    assert record == {"kind": "incident", "id": one, "position": event["data"]["position"]}
    assert {name: value for name, value in event["data"].items() if name != "position"} == {
        "change": "incident",
        "root": one,
        "incident": {
            "incident_id": one,
            "source": "monte-carlo",
            "external_id": "1",
            "severity": "warning",
            "state": "open",
            "title": "Late",
            "url": "https://x/1",
            "kind": "",
            "previous_state": None,
        },
        "assets": [[incidents.world.id_of("shop.orders"), "table", "shop.orders"]],
    }
    incidents.say(monte_carlo("1", state="resolved", rank=1))
    (changed,) = incidents.announced()
    assert (changed["incident"]["state"], changed["incident"]["previous_state"]) == ("resolved", "open")


def test_messages_about_one_incident_in_one_turn_are_announced_once(incidents: IncidentWorld) -> None:
    incidents.say(monte_carlo("1", state="open"), monte_carlo("1", state="acknowledged"), monte_carlo("2"))
    assert [one["incident"]["state"] for one in incidents.announced()] == ["acknowledged", "open"]


def test_a_repeated_message_that_finds_its_asset_at_last_is_announced(incidents: IncidentWorld) -> None:
    """Otherwise nothing would be at risk: the name is found, so no later look finds it again."""
    said = incidents.webhook(anomaly("shop.public.orders", incident="1"))
    incidents.handle(said)
    assert [announced["assets"] for announced in incidents.announced()] == [[]]
    incidents.world.asset("shop.public.orders")
    incidents.handle(said)
    ((asset, *_),) = incidents.announced()[0]["assets"]
    assert asset == asset_id(incidents.tenant, "shop.public.orders")


def test_a_repeated_message_changes_and_announces_nothing(incidents: IncidentWorld) -> None:
    first = incidents.webhook(anomaly("shop.orders", incident="1"), time=LATE)
    incidents.handle(first, first)
    assert len(incidents.announced()) == 1
    before = incidents.incidents()["1"]
    incidents.handle(first)
    incidents.handle(incidents.webhook(anomaly("shop.orders", incident="1"), time=LATER))
    assert incidents.incidents()["1"] == before
    assert incidents.announced() == []
    assert len(incidents.rows("select 1 from incident_history where tenant_id = %(tenant)s")) == 1


def test_the_history_keeps_every_message_with_its_author(incidents: IncidentWorld) -> None:
    incidents.handle(incidents.webhook(message("ticket_attached", {"ticket": "D-1"}, incident="1"), time=EARLY))
    incidents.handle(
        incidents.event(monte_carlo("1", state="resolved", rank=2, by="ann", note="Loaded again"), LATE, "e2")
    )
    rows = incidents.rows("select * from incident_history where tenant_id = %(tenant)s order by at")
    assert [(row["by"], row["change"].get("note"), row["change"]["rank"]) for row in rows] == [
        ("monte-carlo", None, 1),
        ("ann", "Loaded again", 2),
    ]
    assert rows[0]["change"]["raw"]["payload"]["ticket"] == "D-1"


def test_a_message_that_is_delivered_again_keeps_its_earliest_time(incidents: IncidentWorld) -> None:
    for time in (LATE, EARLY, LATER):
        incidents.handle(incidents.event(monte_carlo("1", state="open"), time, "e1"))
    (row,) = incidents.rows("select at from incident_history where tenant_id = %(tenant)s")
    assert clock.stamp(row["at"]) == EARLY


def test_names_match_in_any_case_and_with_any_separator(incidents: IncidentWorld) -> None:
    incidents.world.asset("shop.public.Orders")
    incidents.world.asset("bq:sales.items")
    incidents.say(monte_carlo("1", tables=('"SHOP"."PUBLIC"."orders"', "BQ.Sales.Items")))
    assert incidents.assets("1") == {"shop.public.Orders", "bq:sales.items"}


def test_a_bare_name_matches_only_the_one_table_that_has_it(incidents: IncidentWorld) -> None:
    incidents.world.asset("shop.public.customer_orders")
    incidents.world.asset("shop.public.orders")
    incidents.world.asset("old.orders")
    incidents.world.typed("dashboard", "bi.customer_orders")
    incidents.say(monte_carlo("1", tables=("Customer_Orders",)), monte_carlo("2", tables=("orders",)))
    assert incidents.assets("1") == {"shop.public.customer_orders"}
    assert incidents.assets("2") == set()
    assert incidents.unmatched() == {"orders"}


def test_a_bare_name_does_not_match_a_table_that_was_deleted(incidents: IncidentWorld) -> None:
    for name in ("shop.orders", "old.orders"):
        incidents.world.asset(name)
    incidents.world.person("old.orders", "delete")
    incidents.say(monte_carlo("1", tables=("orders",)))
    assert incidents.assets("1") == {"shop.orders"}


def test_a_full_name_never_matches_a_table_of_another_schema(incidents: IncidentWorld) -> None:
    incidents.world.asset("shop.public.orders")
    incidents.say(monte_carlo("1", tables=("archive.public.orders",)))
    assert incidents.assets("1") == set()


def test_mapping_rules_of_the_tenant_rewrite_the_beginning_of_a_name(incidents: IncidentWorld) -> None:
    incidents.world.asset("shop.public.orders")
    body = '{"id": "m", "name": "m", "data_source": "monte-carlo", "engine_name": "prod.dwh", "asset_name": "shop"}'
    insert = "insert into engine_mappings (tenant_id, key, body, names, version) "
    incidents.rows(insert + "values (%(tenant)s, 'm', %(body)s::jsonb, '{}', 1) returning key", body=body)
    incidents.say(monte_carlo("1", tables=("PROD:dwh.public.orders",)))
    incidents.say(IncidentStatement("other", "1", tables=("prod.dwh.public.orders",)))
    assert incidents.assets("1") == {"shop.public.orders"}
    assert incidents.assets("1", "other") == set()


def test_an_incident_is_attached_when_its_asset_appears(incidents: IncidentWorld) -> None:
    incidents.say(monte_carlo("1", title="Late", tables=("shop:public.orders", "shop.items")))
    assert incidents.unmatched() == {"shop:public.orders", "shop.items"}
    assert incidents.looks() == 1
    incidents.announced()
    assert incidents.look() == 1
    assert incidents.announced() == []
    incidents.world.asset("shop.public.orders")
    assert incidents.look() == 1
    assert incidents.assets("1") == {"shop.public.orders"}
    (changed,) = incidents.announced()
    assert changed["assets"] == [[incidents.world.id_of("shop.public.orders"), "table", "shop.public.orders"]]
    assert changed["incident"]["previous_state"] == "open"
    incidents.world.asset("shop.items")
    assert incidents.look() == 0
    assert incidents.assets("1") == {"shop.public.orders", "shop.items"}
    assert incidents.unmatched() == set()


def test_all_incidents_that_wait_for_a_name_are_attached_however_many_they_are(
    incidents: IncidentWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lily.store.postgres.incidents.names.AT_ONCE", 2)
    incidents.say(*(monte_carlo(str(number), tables=("shop.orders", "shop.items")) for number in range(5)))
    incidents.world.asset("shop.orders")
    assert incidents.look() == 1
    assert [incidents.assets(str(number)) for number in range(5)] == [{"shop.orders"}] * 5
    assert incidents.unmatched() == {"shop.items"}


def test_one_look_is_queued_however_many_names_are_unmatched(incidents: IncidentWorld) -> None:
    incidents.say(*(monte_carlo(str(number), tables=(f"t{number}",)) for number in range(5)))
    incidents.say(monte_carlo("9", tables=("t9",)))
    assert incidents.looks() == 1


def test_assets_that_are_named_by_id_need_not_exist_yet(incidents: IncidentWorld) -> None:
    future = asset_id(incidents.tenant, "shop.later")
    incidents.say(IncidentStatement("openlineage", "1", assets=(future,)))
    assert incidents.assets("1", "openlineage") == {future}
    assert incidents.announced()[0]["assets"] == [[future, None, None]]


def test_a_check_that_passes_resolves_its_earlier_failures_alone(incidents: IncidentWorld) -> None:
    for external_id, time in (("1", EARLY), ("3", LATER)):
        incidents.handle(incidents.event(IncidentStatement("openlineage", external_id, "open", series="s"), time))
    incidents.handle(incidents.event(IncidentStatement("openlineage", "other", "open", series="t"), EARLY))
    incidents.announced()
    incidents.handle(incidents.event(SeriesPassed("openlineage", "s"), LATE))
    states = {external_id: row["state"] for external_id, row in incidents.incidents().items()}
    assert states == {"1": "resolved", "3": "open", "other": "open"}
    (changed,) = incidents.announced()
    assert changed["incident"]["previous_state"] == "open"
    rows = incidents.rows("select change from incident_history where tenant_id = %(tenant)s and change ? 'series'")
    assert len(rows) == 4


def test_a_failure_that_arrives_after_its_check_has_passed_is_resolved(incidents: IncidentWorld) -> None:
    incidents.handle(incidents.event(SeriesPassed("openlineage", "s"), LATE))
    incidents.handle(incidents.event(IncidentStatement("openlineage", "1", "open", series="s"), EARLY))
    incidents.handle(incidents.event(IncidentStatement("openlineage", "2", "open", series="s"), LATER))
    assert {key: row["state"] for key, row in incidents.incidents().items()} == {"1": "resolved", "2": "open"}


def test_a_pass_that_arrives_late_does_not_undo_a_newer_one(incidents: IncidentWorld) -> None:
    for time in (LATER, EARLY):
        incidents.handle(incidents.event(SeriesPassed("openlineage", "s"), time))
    incidents.handle(incidents.event(IncidentStatement("openlineage", "1", "open", series="s"), LATE))
    assert incidents.incidents()["1"]["state"] == "resolved"


def test_a_record_of_another_tenant_or_source_is_refused(incidents: IncidentWorld) -> None:
    event = incidents.event(monte_carlo("1"))
    with pytest.raises(Refused):
        incidents.reaction.handle("somebody-else", [event])
    with pytest.raises(Exception, match="no-such-intake"):
        incidents.handle(incidents.webhook({}, source="no-such-intake"))
    with pytest.raises(Refused):
        incidents.handle(incidents.webhook({"payload": {}}))
    assert incidents.incidents() == {}


def test_incidents_of_two_tenants_do_not_meet(incidents: IncidentWorld, request: pytest.FixtureRequest) -> None:
    other = request.getfixturevalue("make_world")()
    other.asset("shop.orders")
    incidents.say(monte_carlo("1", tables=("shop.orders",)))
    assert incidents.assets("1") == set()
    assert incidents.unmatched() == {"shop.orders"}


def test_old_messages_of_resolved_incidents_are_deleted_and_the_incidents_stay(
    incidents: IncidentWorld, owner: psycopg.Connection
) -> None:
    old, new = "2000-01-01T00:00:00.000000Z", clock.now()
    incidents.handle(
        incidents.event(monte_carlo("done", state="open"), old),
        incidents.event(monte_carlo("done", state="resolved"), new),
        incidents.event(monte_carlo("open", state="open"), old),
    )
    assert delete_old_history(owner, timedelta(days=20 * 365)) == 1
    kept = incidents.rows("select change ->> 'state' as state from incident_history where tenant_id = %(tenant)s")
    assert sorted(row["state"] for row in kept) == ["open", "resolved"]
    assert {key: row["state"] for key, row in incidents.incidents().items()} == {"done": "resolved", "open": "open"}
