"""Whom an event concerns: filters, lineage, owners and mentions, as the store has them."""

from tests.postgres.notified import ORDERS, Notified


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
