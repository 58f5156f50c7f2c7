"""Which layer is shown, which tags are in effect, and when an asset is deleted."""

from typing import Any

import pytest

from lily.model.assets import (
    NO_DERIVED_TAGS,
    DerivedTags,
    LayerName,
    asset_view,
    held_parents,
    is_deleted,
    parent_id,
    shown_fields,
    tags_of,
)
from lily.model.ids import asset_id
from lily.model.layers import Layer, merge
from lily.model.statements import Statement


def layer(which: LayerName, at: str, operation: Any = "upsert", **attributes: Any) -> Layer:
    return Statement(which, operation, "db.t", "table" if which == "source" else None, attributes).as_layer(
        "default", at
    )


def test_the_user_layer_precedes_the_enriched_layer_and_that_the_source() -> None:
    layers: dict[LayerName, Layer] = {
        "source": layer("source", "1", name="t", owner="alice", description="from the source"),
        "enriched": layer("enriched", "2", owner="rule"),
        "user": layer("user", "3", owner="bob"),
    }
    assert shown_fields(layers) == {"name": "t", "owner": "bob", "description": "from the source"}


def test_clearing_a_field_in_the_user_layer_shows_the_layer_below() -> None:
    person = merge(layer("user", "2", owner="bob"), layer("user", "3", owner=None))
    assert shown_fields({"source": layer("source", "1", owner="alice"), "user": person})["owner"] == "alice"


def moved_by_a_person(*, authorised: bool) -> dict[LayerName, Layer]:
    moved = Statement("user", "upsert", "db.t", None, {"parent": "new"}, authorised=authorised)
    return {"source": layer("source", "1", parent="old"), "user": moved.as_layer("default", "2")}


def test_the_parent_that_a_person_states_is_shown_and_covers_that_of_the_source_with_authority() -> None:
    for authorised in (False, True):
        layers = moved_by_a_person(authorised=authorised)
        assert parent_id(layers) == asset_id("default", "new")
        assert held_parents(layers) == (set() if authorised else {asset_id("default", "old")})


def test_the_tags_of_the_source_are_shown_if_it_states_any() -> None:
    person = layer("user", "2", tags=["mine"])
    assert tags_of({"source": layer("source", "1", tags=["public"]), "user": person})["shown"] == ["public"]
    assert tags_of({"source": layer("source", "1", tags=[]), "user": person})["shown"] == ["mine"]
    assert tags_of({"source": layer("source", "1"), "user": person})["shown"] == ["mine"]


def test_a_protective_tag_is_in_effect_in_every_layer() -> None:
    tags = tags_of({"source": layer("source", "1", tags=["public"]), "user": layer("user", "2", tags=["pii", "mine"])})
    assert tags["shown"] == ["public"]
    assert tags["effective"] == ["pii", "public"]


PUBLIC: dict[LayerName, Layer] = {"source": layer("source", "1", tags=["public"])}


def test_a_derived_tag_is_in_effect_if_it_is_protective() -> None:
    tags = tags_of(PUBLIC, DerivedTags({"pii": "PII"}, {"gdpr": "GDPR", "team": "Team"}))
    assert (tags["propagated"], tags["inherited"]) == (["PII"], ["GDPR", "Team"])
    assert tags["effective"] == ["GDPR", "PII", "public"]


def test_a_tenant_decides_which_further_tags_are_protective() -> None:
    layers = {**PUBLIC, "enriched": layer("enriched", "2", tags=["Secret"])}
    assert tags_of(layers)["effective"] == ["public"]
    assert tags_of(layers, NO_DERIVED_TAGS, {"secret"})["effective"] == ["public", "Secret"]


def test_a_suppressed_derived_tag_is_listed_but_not_in_effect() -> None:
    hidden = Statement("user", "suppress", "db.t", None, {}, "PII", "me", "tokenised").as_layer("default", "3")
    tags = tags_of({**PUBLIC, "user": hidden}, DerivedTags({"pii": "PII"}, {"pii": "PII"}))
    assert (tags["propagated"], tags["inherited"], tags["effective"]) == (["PII"], ["PII"], ["public"])


def test_a_suppression_does_not_hide_a_tag_that_the_asset_states_itself() -> None:
    hidden = Statement("user", "suppress", "db.t", None, {}, "PII", "me", "tokenised").as_layer("default", "3")
    tags = tags_of({"source": layer("source", "1", tags=["pii"]), "user": hidden}, DerivedTags({"pii": "PII"}))
    assert (tags["propagated"], tags["effective"]) == ([], ["pii"])


def test_a_users_deletion_outlives_source_refreshes_until_the_asset_is_restored() -> None:
    deleted = layer("user", "2", "delete")
    assert is_deleted({"source": layer("source", "9"), "user": deleted})
    restored = merge(deleted, layer("user", "3", "restore"))
    assert not is_deleted({"source": layer("source", "1"), "user": restored})


def test_a_sources_deletion_is_undone_by_a_newer_source_event() -> None:
    deleted = layer("source", "2", "delete", name="t")
    assert is_deleted({"source": deleted})
    assert not is_deleted({"source": merge(deleted, layer("source", "3", name="t"))})
    assert is_deleted({"source": merge(deleted, layer("source", "1", name="t"))})


def test_a_restore_overrides_only_an_older_deletion_by_the_source() -> None:
    restored = layer("user", "3", "restore")
    assert not is_deleted({"source": layer("source", "2", "delete"), "user": restored})
    assert is_deleted({"source": layer("source", "4", "delete"), "user": restored})


def test_an_asset_has_the_shape_of_the_contract() -> None:
    view = asset_view(
        metadata_id="id",
        tenant_id="default",
        qualified_name="db.t",
        layers={"source": layer("source", "1", name="t", zone="eu", tags=["PII"])},
        version=1,
        created_at="c",
        updated_at="u",
        fresh_as_of="f",
    )
    assert list(view["attributes"]) == [
        "name", "qualified_name", "description", "owner", "created_by", "data_source", "parent", "tags",
        "business_terms", "zone",
    ]  # fmt: skip
    assert set(view["tags"]) == {"source", "enriched", "user", "propagated", "inherited", "effective"}


@pytest.mark.parametrize("shown", [True, False])
def test_a_tag_in_effect_is_called_as_it_is_defined_however_a_layer_spells_it(*, shown: bool) -> None:
    source = layer("source", "1", tags=["Pii", "rAW"] if shown else ["public"])
    tags = tags_of({"source": source, "user": layer("user", "2", tags=["piI"])}, names={"pii": "PII"})
    assert tags["effective"] == (["PII", "rAW"] if shown else ["PII", "public"])
    assert tags["user"] == ["piI"]
