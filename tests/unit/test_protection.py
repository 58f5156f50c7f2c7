"""Which protective tags an event removes from an asset, and how."""

import uuid
from typing import Any

from lily.lineage.protection import DerivedContext, Layers, TagRemoval, merge_event, removal_forbidden, tag_removals
from lily.lineage.tag_rules import TagRules
from lily.model import ids
from lily.model.assets import DerivedTags
from lily.model.events import AssetEvent
from lily.model.statements import read_statement

TENANT = "tenant"
RULES = TagRules()
CUT = TagRules(on_delete="cut")
INHERITS_PII = DerivedTags(inherited={"pii": "PII"})


def source(tick: int, **attributes: Any) -> AssetEvent:
    return _event(tick, layer="source", entity_type="table", attributes={"name": "t", **attributes})


def user(tick: int, operation: str = "upsert", **data: Any) -> AssetEvent:
    return _event(tick, layer="user", operation=operation, **data)


def _event(tick: int, **data: Any) -> AssetEvent:
    statement = read_statement({"qualified_name": "shop.t", **data}, tenant=TENANT)
    return AssetEvent(str(uuid.UUID(int=tick)), f"2026-01-01T00:00:{tick:02}.000000Z", TENANT, statement)


def removals(
    before: list[AssetEvent],
    event: AssetEvent,
    context: DerivedContext = DerivedContext(),  # noqa: B008 - frozen
    rules: TagRules = RULES,
) -> list[TagRemoval]:
    layers: Layers = {}
    for earlier in before:
        layers = merge_event(layers, earlier)
    return tag_removals(event.statement.layer, layers, merge_event(layers, event), rules, context)


def test_a_list_without_the_tag_removes_it_from_its_own_layer() -> None:
    before = [source(1, tags=["PII", "raw"]), user(2, "tag", tag="PII")]
    assert removals(before, source(3, tags=["raw"])) == [TagRemoval("tag.removed", ["pii"], "source")]
    assert removals(before, user(3, "untag", tag="pii")) == [TagRemoval("tag.removed", ["pii"], "user")]
    assert removals(before, source(3, tags=["pii"])) == []


def test_an_older_list_removes_nothing() -> None:
    assert removals([source(5, tags=["PII"])], source(3, tags=[])) == []


def test_tags_that_do_not_propagate_are_not_protective() -> None:
    assert removals([source(1, tags=["raw"])], source(2, tags=[])) == []


def test_a_move_removes_what_only_the_old_parent_passes_down() -> None:
    closed, open_ = ids.asset_id(TENANT, "closed"), ids.asset_id(TENANT, "open")
    before, move = [source(1, parent="closed")], source(2, parent="open")
    inherited = DerivedContext(from_parent={closed: INHERITS_PII})
    assert removals(before, move, inherited) == [TagRemoval("tag.removed", ["pii"], "inherited")]
    assert removals(before, source(2, parent=None), inherited) == [TagRemoval("tag.removed", ["pii"], "inherited")]
    assert removals(before, move, DerivedContext(from_parent={closed: INHERITS_PII, open_: INHERITS_PII})) == []
    along_edges = DerivedContext(DerivedTags(propagated={"pii": "PII"}), {closed: INHERITS_PII})
    assert removals(before, move, along_edges) == []


def test_a_suppression_is_an_action_of_its_own() -> None:
    before = [source(1)]
    suppress = user(2, "suppress", tag="PII", reason="tokenised")
    assert removals(before, suppress) == [TagRemoval("tag.suppressed", ["pii"], "user")]
    assert removals([*before, suppress], user(3, "suppress", tag="PII", reason="again")) == []


def test_a_deletion_removes_what_others_have_through_the_asset_only_where_deletion_cuts() -> None:
    context = DerivedContext(passed_on=["pii"])
    before = [source(1)]
    delete = user(2, "delete")
    assert removals(before, delete, context) == []
    assert removals(before, delete, context, CUT) == [TagRemoval("tag.removed", ["pii"], "propagated")]
    assert removals([*before, delete], user(3, "delete"), context, CUT) == []


def test_the_message_names_the_tags_as_defined() -> None:
    assert removal_forbidden(RULES, ["pii"]) == "removing the protective tag PII requires the scope policy:write"
