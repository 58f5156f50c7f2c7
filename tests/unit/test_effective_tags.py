"""The tags that decisions use are those that an asset shows as effective."""

from hypothesis import given
from hypothesis import strategies as st

from lily.model.assets import (
    LAYERS,
    DerivedTags,
    LayerName,
    effective_tag_keys,
    merged_attributes,
    shown_fields,
    tags_of,
)
from lily.model.layers import TAGS, Layer

AT = "2026-01-01T00:00:00.000000Z/e"
TAG = st.sampled_from(["pii", "gdpr", "gold", "draft", "secret"])
STATED = st.none() | st.dictionaries(TAG, st.just("x"), max_size=3)


@given(st.tuples(STATED, STATED, STATED), st.sets(TAG), st.sets(TAG), st.sets(TAG), st.sets(TAG))
def test_the_keys_are_those_of_the_effective_tags(
    stated: tuple[dict[str, str] | None, ...],
    propagated: set[str],
    inherited: set[str],
    suppressed: set[str],
    protective: set[str],
) -> None:
    fields: dict[LayerName, dict[str, object]] = {
        name: {} if tags is None else {TAGS: {tag: tag for tag in tags}}
        for name, tags in zip(LAYERS, stated, strict=True)
    }
    fields["user"] |= {f"$suppressed:{tag}": {"by": "me"} for tag in suppressed}
    layers = {name: Layer(values, AT, {}) for name, values in fields.items()}
    derived = DerivedTags({tag: tag for tag in propagated}, {tag: tag for tag in inherited})
    expected = tags_of(layers, derived, protective)["effective"]
    found = effective_tag_keys(stated, (*propagated, *inherited), suppressed, protective)
    assert sorted(found) == expected


def test_attributes_are_those_that_are_shown() -> None:
    source = {"$type": "table", "owner": "a", "domain": "hr", "tags": {"pii": "PII"}}
    enriched, user = {"owner": "b"}, {"owner": "c", "$suppressed:pii": {}}
    layers: dict[LayerName, Layer] = {
        "source": Layer(source, AT, {}),
        "enriched": Layer(enriched, AT, {}),
        "user": Layer(user, AT, {}),
    }
    assert merged_attributes(source, enriched, user) == shown_fields(layers) == {"owner": "c", "domain": "hr"}


def test_a_tag_of_a_person_decides_if_the_source_states_that_there_are_none() -> None:
    assert effective_tag_keys([{}, None, {"gold": "Gold"}], (), (), ()) == {"gold"}
    assert effective_tag_keys([{"draft": "Draft"}, None, {"gold": "Gold"}], (), (), ()) == {"draft"}


def test_a_protective_tag_of_a_person_decides_beside_those_of_the_source() -> None:
    assert effective_tag_keys([{"draft": "Draft"}, None, {"pii": "PII"}], (), (), {"pii"}) == {"draft", "pii"}
