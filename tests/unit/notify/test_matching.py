"""Which events a subscription matches, and the reason for each filter."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lily.model import ids
from lily.notify.events import SEVERITIES, Occurrence, Subject, read_announcement, read_change
from lily.notify.identities import delivery_id, notification_id, target_of
from lily.notify.kinds import INCIDENT, RISK, wanted_changes
from lily.notify.matching import Finding, Matcher, owners_of
from lily.notify.occurrence_codec import decoded, encoded
from lily.notify.subscriptions import Filters, Subscription

TENANT, AT = "default", "2026-01-01T00:00:00.000000Z"


def asset(name: str, **facts: Any) -> Subject:
    return Subject(ids.asset_id(TENANT, name), "table", name, **facts)


def opened(*subjects: Subject, severity: Any = "warning", **more: Any) -> Occurrence:
    incident = {"incident_id": "i", "source": "monte-carlo", "state": "open", "severity": severity}
    return Occurrence(
        "change-1", ("incident.opened",), severity, "2026-01-01T00:00:00.000000Z", subjects, incident, **more
    )


def matched(occurrence: Occurrence, **filters: Any) -> bool:
    return Matcher(TENANT, Filters(**filters)).match(occurrence).matched


def test_without_filters_incidents_and_risk_match_and_changes_do_not() -> None:
    assert matched(opened(asset("shop.orders")))
    assert matched(opened())
    assert not matched(Occurrence("e", ("asset.updated",), "info", "", (asset("shop.orders"),)))
    assert matched(Occurrence("e", ("asset.updated",), "info", "", (asset("shop.orders"),)), kinds=["asset.*"])


def test_an_asset_is_named_by_id_or_name_and_stands_for_what_is_below_it() -> None:
    schema = ids.asset_id(TENANT, "shop")
    orders = asset("shop.orders", ancestors=frozenset({schema}))
    assert matched(opened(orders), assets=["shop.orders"])
    assert matched(opened(orders), assets=[orders.id])
    assert matched(opened(orders), assets=["shop"])
    assert not matched(opened(orders), assets=["shop"], descendants=False)
    assert not matched(opened(orders), assets=["other"])


@pytest.mark.parametrize(("descendants", "wanted"), [(True, "shop, or what is below by its `parent`"), (False, "shop")])
def test_a_name_that_only_begins_like_the_wanted_asset_is_explained(*, descendants: bool, wanted: str) -> None:
    filters = Filters(assets=["shop"], descendants=descendants)
    found = Matcher(TENANT, filters).match(opened(asset("shop.orders")))
    assert found.findings[-1] == Finding("assets", False, f"the event is about shop.orders; wanted: {wanted}")


def test_tags_types_and_owners_compare_without_case() -> None:
    orders = asset("shop.orders", tags=frozenset({"pii"}), owner="Ann")
    assert matched(opened(orders), tags=["PII"], entity_types=["Table"], owners=["ann"])
    assert not matched(opened(orders), tags=["GDPR"])
    assert not matched(opened(orders), owners=["bob"])


def test_owners_of_what_is_downstream_count_only_if_that_is_wanted() -> None:
    orders = asset("shop.orders", owner="ann", downstream_owners=frozenset({"bi-team"}))
    assert not matched(opened(orders), owners=["bi-team"])
    assert matched(opened(orders), owners=["bi-team"], downstream_owners=True)
    assert owners_of(orders, Filters(downstream_owners=True)) == {"ann", "bi-team"}


def test_the_least_severity_is_one_that_matches() -> None:
    found = [severity for severity in SEVERITIES if matched(opened(severity=severity), min_severity="warning")]
    assert found == ["warning", "critical"]


def test_ids_follow_from_all_that_they_identify() -> None:
    assert notification_id("a", "change-1") == notification_id("a", "change-1")
    assert len({notification_id(tenant, event) for tenant in "ab" for event in ("change-1", "change-2")}) == 4
    assert len({delivery_id(one, two, three) for one in "ab" for two in "ab" for three in "ab"}) == 8
    assert len({target_of(channel, destination) for channel in "ab" for destination in ("", "x")}) == 4
    assert target_of(f"{'c' * 100}1", "x") != target_of(f"{'c' * 100}2", "x")


def test_downstream_of_looks_at_what_an_asset_is_derived_from() -> None:
    report = asset("report", upstream=frozenset({ids.asset_id(TENANT, "shop.orders")}))
    assert matched(opened(report), downstream_of=["shop.orders"])
    assert not matched(opened(report), downstream_of=["shop.people"])


def test_one_asset_has_to_satisfy_all_filters() -> None:
    first, second = asset("a", owner="ann"), asset("b", tags=frozenset({"pii"}))
    found = Matcher(TENANT, Filters(owners=["ann"], tags=["pii"])).match(opened(first, second))
    assert not found.matched
    assert found.findings[-1].filter == "all"


def test_only_the_assets_that_match_are_passed_on() -> None:
    found = Matcher(TENANT, Filters(owners=["ann"])).match(opened(asset("a", owner="ann"), asset("b", owner="bob")))
    assert [one.qualified_name for one in found.subjects] == ["a"]


def test_every_filter_that_does_not_match_has_a_reason_with_the_value() -> None:
    filters = Filters(tags=["GDPR"], owners=["bob"], min_severity="critical", kinds=["incident.resolved"])
    found = Matcher(TENANT, filters).match(opened(asset("shop.orders", owner="ann")))
    reasons = {one.filter: one.reason for one in found.findings if not one.matched}
    assert set(reasons) == {"kinds", "min_severity", "tags", "owners"}
    assert "incident.opened" in reasons["kinds"]
    assert "warning" in reasons["min_severity"]
    assert "GDPR" in reasons["tags"]
    assert "ann" in reasons["owners"]


def risk(
    *subjects: Subject, change: str = "at_risk", own: tuple[str, ...] = ("orders",), **incident: Any
) -> Occurrence:
    """What is announced of an incident of `own`, with what lies downstream."""
    stated = {"incident_id": "i", "source": "monte-carlo", "state": "open", "severity": "critical", **incident}
    assets = [[one.id, one.entity_type, one.qualified_name] for one in subjects]
    ids_ = [ids.asset_id(TENANT, name) for name in own]
    found = read_announcement(envelope(change=change, root="i", incident=stated, assets=assets, own=ids_))
    assert found is not None
    return found.about(subjects)


@pytest.mark.parametrize("change", ["at_risk", "clear"])
@pytest.mark.parametrize("kinds", [[], ["incident.*", "risk.*"], [*INCIDENT, *RISK]])
def test_a_risk_leaves_out_the_assets_of_which_the_incident_itself_notifies(change: str, kinds: list[str]) -> None:
    orders, report = asset("orders"), asset("report")
    found = Matcher(TENANT, Filters(kinds=kinds)).match(risk(orders, report, change=change))
    assert (found.matched, found.subjects) == (True, (report,))
    alone = Matcher(TENANT, Filters(kinds=kinds)).match(risk(orders, change=change))
    assert not alone.matched
    (finding,) = [one for one in alone.findings if not one.matched]
    assert (finding.filter, finding.matched) == ("own_assets", False)
    assert "orders" in finding.reason
    filtered = Matcher(TENANT, Filters(kinds=kinds, assets=["orders"])).match(risk(orders, report, change=change))
    assert [one.filter for one in filtered.findings if not one.matched] == ["own_assets"]


@pytest.mark.parametrize(
    ("change", "filters"),
    [
        ("at_risk", {"kinds": ["risk.*"]}),
        ("at_risk", {"kinds": ["incident.opened", "risk.*"]}),  # it would not learn of an asset that is attached later
        ("clear", {"kinds": ["incident.opened", "risk.*"]}),
        ("clear", {"severities": ["info"]}),  # the end of a risk is info, that of a critical incident is not
    ],
)
def test_a_risk_names_the_assets_of_the_incident_if_nothing_else_would(change: str, filters: dict[str, Any]) -> None:
    orders, report = asset("orders"), asset("report")
    assert Matcher(TENANT, Filters(**filters)).match(risk(orders, report, change=change)).subjects == (orders, report)


def test_the_kind_of_a_quality_rule_notifies_of_the_assets_of_its_incident() -> None:
    of_rule = risk(asset("orders"), source="quality", kind="query_spike")
    assert not matched(of_rule, kinds=["quality.query_spike", "risk.*"])
    assert matched(of_rule, kinds=["quality.unused", "risk.*"])


def test_an_asset_of_one_incident_can_be_at_risk_by_another() -> None:
    assert matched(risk(asset("orders"), own=("people",)))
    assert matched(risk(asset("orders"), own=()))


def test_a_stored_risk_still_has_the_assets_of_the_incident() -> None:
    event = risk(asset("orders"), asset("report"))
    assert decoded(encoded(event)) == event
    assert decoded({key: value for key, value in encoded(event).items() if key != "own"}).own == frozenset()


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "assets": st.lists(st.sampled_from(["a", "b", "shop"]), max_size=2),
        "tags": st.lists(st.sampled_from(["PII", "GDPR"]), max_size=2),
        "owners": st.lists(st.sampled_from(["ann", "bob"]), max_size=2),
        "min_severity": st.sampled_from(["info", "warning", "critical"]),
        "kinds": st.lists(st.sampled_from(["incident.*", "incident.opened", "risk.*", "tag.tagged"]), max_size=2),
    },
)
SUBJECTS = st.builds(
    asset,
    st.sampled_from(["a", "b", "c"]),
    owner=st.sampled_from(["", "ann", "bob"]),
    tags=st.frozensets(st.sampled_from(["pii", "gdpr"])),
    ancestors=st.frozensets(st.sampled_from([ids.asset_id(TENANT, "shop")])),
)


@given(FILTERS, st.lists(SUBJECTS, max_size=3), st.sampled_from(["info", "warning", "critical"]))
def test_a_match_is_what_all_findings_say_and_each_filter_only_narrows(
    filters: dict[str, Any], subjects: list[Subject], severity: str
) -> None:
    occurrence = opened(*subjects, severity=severity)
    found = Matcher(TENANT, Filters(**filters)).match(occurrence)
    assert found.matched == all(one.matched for one in found.findings)
    assert all(one.reason for one in found.findings)
    assert set(found.subjects) <= set(subjects)
    for name in filters:
        wider = {key: value for key, value in filters.items() if key != name}
        if name != "kinds":
            assert not found.matched or matched(occurrence, **wider)


def envelope(**data: Any) -> dict[str, Any]:
    return {"id": "change-9", "time": "2026-01-01T00:00:00.000000Z", "data": data}


@pytest.mark.parametrize(
    ("state", "previous", "kind"),
    [
        ("open", None, "incident.opened"),
        ("acknowledged", "open", "incident.acknowledged"),
        ("resolved", "open", "incident.resolved"),
        ("open", "open", "incident.updated"),
    ],
)
def test_the_kind_of_an_incident_follows_from_its_states(state: str, previous: str | None, kind: str) -> None:
    incident = {"incident_id": "i", "state": state, "previous_state": previous, "severity": "critical"}
    found = read_announcement(envelope(change="incident", root="i", incident=incident, assets=[["1", "table", "a"]]))
    assert found is not None
    assert found.kinds == (kind,)
    assert (found.severity, found.incident_id, found.subjects[0].qualified_name) == ("critical", "i", "a")


def test_an_incident_of_a_quality_rule_is_also_of_the_kind_of_the_rule() -> None:
    incident = {"incident_id": "i", "state": "open", "source": "quality", "kind": "query_spike"}
    found = read_announcement(envelope(change="incident", root="i", incident=incident, assets=[]))
    assert found is not None
    assert matched(found, kinds=["quality.query_spike"])
    assert matched(found, kinds=["quality.*"])
    assert not matched(found, kinds=["quality.unused"])


def test_announced_tags_and_risks_are_read_and_unknown_announcements_left_out() -> None:
    tagged = read_announcement(envelope(change="tagged", root="r", cause={"tag": "PII"}, assets=[["1", None, None]]))
    assert tagged is not None
    assert (tagged.kinds, tagged.tags) == (("tag.tagged",), ("PII",))
    incident = {"incident_id": "i", "state": "resolved", "severity": "critical"}
    clear = read_announcement(envelope(change="clear", root="i", incident=incident, assets=[["1", "table", "a"]]))
    assert clear is not None
    assert (clear.kinds, clear.severity) == (("risk.clear",), "info")
    assert read_announcement(envelope(change="something-new", root="i")) is None


def test_an_update_that_adds_a_tag_is_of_both_kinds() -> None:
    record = {
        "id": "change-4",
        "asset": "1",
        "entity_type": "table",
        "qualified_name": "a",
        "layer": "source",
        "change": "updated",
        "changed": ["description", "tags"],
        "tags": {"added": ["PII"], "removed": []},
        "by": "crawler",
        "at": "2026-01-01T00:00:00.000000Z",
    }
    assert read_change(record).kinds == ("asset.updated", "tag.tagged")
    assert read_change(record | {"change": "tagged"}).kinds == ("tag.tagged",)


def test_the_relay_routes_only_changes_that_a_kind_names() -> None:
    assert wanted_changes(["incident.*"]) == frozenset()
    assert wanted_changes(["asset.deleted", "tag.*"]) == {"deleted", "tagged", "untagged"}


@pytest.mark.parametrize(
    "given",
    [
        {"name": "n", "channel": "c", "destination": "a\nb"},
        {"name": "n", "channel": "c", "destination": "d", "filters": {"kinds": ["incidents"]}},
        {"name": "n", "channel": "c", "destination": "d", "filters": {"tag": ["PII"]}},
        {"name": "n\x00", "channel": "c", "destination": "d"},
        {"name": "n", "channel": "c", "destination": "d", "filters": {"owners": ["a\x00"]}},
        {"name": "n", "channel": "c", "destination": "d", "group": {"seconds": 0}},
        {
            "name": "n",
            "channel": "c",
            "destination": "d",
            "quiet_hours": {"timezone": "Mars", "from": "1:00", "to": "2"},
        },
    ],
)
def test_a_subscription_that_cannot_work_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Subscription.model_validate(given, strict=True)


def test_a_subscription_is_stored_under_the_names_of_the_contract() -> None:
    hours = {"timezone": "Europe/Berlin", "from": "22:00", "to": "07:00", "days": [], "except_severity": "critical"}
    stated = {"name": "n", "channel": "c", "destination": "#d", "quiet_hours": hours}
    stored = Subscription.model_validate(stated, strict=True).stored()
    assert stored["quiet_hours"] == hours
    assert Subscription.model_validate(stored, strict=True).stored() == stored
