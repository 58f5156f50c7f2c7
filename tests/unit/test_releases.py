"""A release ends what a layer holds, states nothing else, and needs authority."""

import orjson
import pytest

from lily.api.protections.deciding import unchanged
from lily.lineage.pending import PendingId, parse_pending_id, parse_reviewed_id
from lily.model import clock, ids
from lily.model.assets import is_cut
from lily.model.edges import ClaimsEvent, EdgeKey, read_claims_event
from lily.model.errors import Refused
from lily.model.events import AssetEvent, read_event
from lily.model.layers import Layer, merge
from lily.model.releases import Release
from lily.model.statements import Statement, may_propagate, read_statement
from lily.store.postgres.protection.pending import PendingItem

NOW = "2026-01-02T00:00:00.000000Z"
PARENT = ids.asset_id("t", "crm")
RELEASES = [Release("tag", "pii"), Release("parent", PARENT), Release("covered"), Release("deletion")]


def event(release: Release) -> AssetEvent:
    statement = Statement("source", "release", "shop.orders", None, {}, by="ada", authorised=True, release=release)
    return AssetEvent(ids.event_id(), NOW, "t", statement)


@pytest.mark.parametrize("release", RELEASES)
def test_it_is_read_back_from_the_log(release: Release) -> None:
    written = event(release)
    assert read_event(orjson.loads(orjson.dumps(written.as_cloudevent())), received=clock.now()) == written
    assert may_propagate(written.statement)


@pytest.mark.parametrize("release", RELEASES)
def test_it_states_one_internal_field_and_nothing_else(release: Release) -> None:
    fields = event(release).layer().fields
    assert len(fields) == 1
    assert all(field.startswith("$") for field in fields)
    assert "$deleted" not in fields


@pytest.mark.parametrize("release", RELEASES)
def test_without_authority_it_is_refused(release: Release) -> None:
    data = {**event(release).statement.as_data(), "authorised": False}
    with pytest.raises(Refused) as refused:
        read_statement(data, tenant="t")
    assert [problem.code for problem in refused.value.problems] == ["PROTECTED"]


def test_authority_has_to_be_stated() -> None:
    for claim in ({}, {"authorised": None}, {"authorised": "yes"}):
        data = {key: value for key, value in event(RELEASES[0]).statement.as_data().items() if key != "authorised"}
        with pytest.raises(Refused, match="PROTECTED"):
            read_statement({**data, **claim}, tenant="t")


def test_a_tag_and_a_parent_are_named_in_any_case() -> None:
    said = {"operation": "release", "layer": "user", "qualified_name": "a", "authorised": True}
    for release in RELEASES[:2]:
        data = {**said, "release": {"kind": release.kind, "key": release.key.upper()}}
        assert read_statement(data, tenant="t").release == release


def test_the_release_of_a_deletion_lets_it_cut() -> None:
    deleted = Statement("source", "delete", "shop.orders", "table", {}).as_layer("t", "2026-01-01T00:00:00.000000Z/a")
    assert not is_cut({"source": deleted})
    assert is_cut({"source": merge(deleted, event(Release("deletion")).layer())})


@pytest.mark.parametrize("given", [None, {}, {"kind": "asset"}, {"kind": "parent", "key": "crm"}, {"kind": "tag"}])
def test_it_has_to_state_what_ends(given: object) -> None:
    data = {"operation": "release", "layer": "user", "qualified_name": "a", "authorised": True, "release": given}
    with pytest.raises(Refused):
        read_statement(data, tenant="t")


@pytest.mark.parametrize(("field", "release"), [("$held:pii", RELEASES[0]), (f"$held_parent:{PARENT}", RELEASES[1])])
def test_it_ends_what_was_present_before_it_and_not_after(field: str, release: Release) -> None:
    shown = {"name": "orders", "tags": {}, "$parent": "other"}
    for at, ends in (("2026-01-01T00:00:00.000000Z/a", True), ("2026-01-03T00:00:00.000000Z/a", False)):
        holding = Layer({**shown, field: True}, "2026-01-04T00:00:00.000000Z/a", {field: at})
        made = event(release).layer()
        assert (field not in merge(holding, made).fields) is ends
        assert merge(holding, made) == merge(made, holding)
        assert {key: merge(holding, made).fields[key] for key in shown} == shown


def test_a_release_of_claims_is_read_back_and_needs_authority() -> None:
    key = EdgeKey(ids.asset_id("t", "a"), ids.asset_id("t", "b"), "derived-from")
    job = ids.asset_id("t", "job")
    made = ClaimsEvent(
        ids.event_id(), NOW, "t", job, "confirmation", complete=False, claims=(), authorised=True, released=(key,)
    )
    written = made.as_cloudevent()
    assert read_claims_event(orjson.loads(orjson.dumps(written)), received=clock.now()) == made
    for changed in ({"authorised": False}, {"complete": True}):
        with pytest.raises(Refused):
            read_claims_event({**written, "data": {**written["data"], **changed}}, received=clock.now())


@pytest.mark.parametrize("text", ["", "nothing", "ünï", "W10", "WyJ0YWciXQ", "WyJ0YWciLCAxXQ", "bnVsbA", "e30", "!!"])
def test_what_is_not_an_id_is_recognised(text: str) -> None:
    with pytest.raises(ValueError, match="not"):
        parse_pending_id(text)


def test_an_id_has_the_keys_of_its_kind() -> None:
    one = PendingId("edge", (PARENT, ids.asset_id("t", "b"), "derived-from"))
    assert parse_pending_id(str(one)) == one
    with pytest.raises(ValueError, match="not"):
        parse_pending_id(str(PendingId("tag", (PARENT, "x" * 2_000))))


def test_what_is_reviewed_is_named_with_what_was_shown_of_it() -> None:
    one = PendingId("edge", (PARENT, ids.asset_id("t", "b"), "derived-from"))
    masked = PendingItem(one, ("pii",), "etl", NOW).reviewed
    assert parse_reviewed_id(str(masked)) == masked
    changed = [
        PendingItem(one, ("gdpr", "pii"), "etl", NOW),
        PendingItem(one, ("pii",), "mallory", NOW),
        PendingItem(one, ("pii",), "etl", "2026-12-01T00:00:00.000000Z"),
        PendingItem(one, ("pii",), "etl", NOW, "2026-12-01T00:00:00.000000Z/e"),
    ]
    assert unchanged(changed, [masked]) == []
    assert unchanged([PendingItem(one, ("pii",), "etl", NOW)], [masked]) != []


def test_an_item_cannot_be_decided_without_what_was_shown_of_it() -> None:
    with pytest.raises(ValueError, match="not"):
        parse_reviewed_id(str(PendingId("deletion", (PARENT,))))
