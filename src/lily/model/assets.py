"""What an asset shows: its entity type, the value of each field, and the tags that are in effect."""

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from lily.model.held import COVERS, HELD, HELD_PARENT, PARENT_ID
from lily.model.layers import TAGS, Layer

LayerName = Literal["source", "enriched", "user"]
LAYERS: tuple[LayerName, ...] = ("source", "enriched", "user")

# Internal fields. An attribute's name cannot begin with "$", so they never collide with a user's.
TYPE, DELETED = "$type", "$deleted"
CUT = "$cut"  # stated by every deletion: whether its author had authority, so that it stops tags (`on_delete: cut`)
SUPPRESSED = "$suppressed:"  # followed by a tag's key; the value holds who suppressed the tag, and why

_ENTITY_TYPES = """
    database schema table view materialized_view column index function procedure
    dashboard chart report workbook worksheet field bi_field measure dimension metric dataset
    data_source collection container bucket folder file
    topic stream queue job task pipeline process query notebook
    model ml_model feature feature_group api endpoint service application
    glossary term domain data_product user group
"""
ENTITY_TYPES = frozenset(_ENTITY_TYPES.split())

# A protective tag is in effect even if another layer's tags are shown (contract, "Access"). These two are protective in
# every tenant, whatever the tenant defines.
PROTECTIVE = frozenset({"pii", "gdpr"})
NO_NAMES: Mapping[str, str] = {}  # of definitions


class DerivedTags(NamedTuple):
    """The tags that other assets pass to an asset along edges and down the hierarchy: name by key."""

    propagated: Mapping[str, str] = {}
    inherited: Mapping[str, str] = {}


NO_DERIVED_TAGS = DerivedTags()


def tag_key(tag: str) -> str:
    """The form in which tags are compared, everywhere: case does not count, nor how a letter is composed.

    Folding decomposes some letters (`ΰ`), and upper case composes with other marks than lower case does, so the name is
    decomposed, folded, composed and folded again. The result is not composed: so are the keys that are stored.
    """
    if tag.isascii():
        return tag.lower()
    folded = unicodedata.normalize("NFD", tag).casefold()
    return unicodedata.normalize("NFC", folded).casefold()


def shown_fields(layers: Mapping[LayerName, Layer]) -> dict[str, Any]:
    """The shown attributes but tags and internal fields: the user layer's, else the enriched, else the source's."""
    shown: dict[str, Any] = {}
    for name in LAYERS:
        if name in layers:
            shown |= layers[name].fields
    return {key: value for key, value in shown.items() if not key.startswith("$") and key != TAGS}


def shown_value(layers: Mapping[LayerName, Layer], key: str) -> str | None:
    """The shown value of one field: the user layer's, else the enriched, else the source's."""
    for name in reversed(LAYERS):
        if (layer := layers.get(name)) is not None and (value := layer.fields.get(key)) is not None:
            return str(value)
    return None


def parent_id(layers: Mapping[LayerName, Layer]) -> str | None:
    """The id of the shown parent."""
    return shown_value(layers, PARENT_ID)


def held_parents(layers: Mapping[LayerName, Layer]) -> set[str]:
    """The ids of the parents that are not shown and still conduct protective tags: those that a newer statement without
    authority replaced, and those of layers that such a statement covers."""
    found: set[str] = set()
    for name in reversed(LAYERS):
        if (layer := layers.get(name)) is None:
            continue
        found |= conducting_parents(layer)
        if layer.fields.get(COVERS) and layer.fields.get(PARENT_ID) is not None:
            break
    return found - {parent_id(layers)}


def conducting_parents(layer: Layer) -> set[str]:
    """The ids of the parents that one layer states or holds."""
    found = {field[len(HELD_PARENT) :] for field in layer.fields if field.startswith(HELD_PARENT)}
    return found | {str(parent) for parent in (layer.fields.get(PARENT_ID),) if parent is not None}


def entity_type(layers: Mapping[LayerName, Layer]) -> str:
    return next(
        (str(layers[name].fields[TYPE]) for name in LAYERS if name in layers and TYPE in layers[name].fields), ""
    )


def is_deleted(layers: Mapping[LayerName, Layer]) -> bool:
    """A user's deletion outlives source refreshes; a user's restore overrides an older deletion by the source."""
    source, user = layers.get("source"), layers.get("user")
    person = user.fields.get(DELETED) if user else None
    if person is True:
        return True
    if source is None or source.fields.get(DELETED) is not True:
        return False
    return not (person is False and user and (user.clock_of(DELETED) or "") > (source.clock_of(DELETED) or ""))


def is_cut(layers: Mapping[LayerName, Layer]) -> bool:
    """Whether an authorised statement deleted the asset, so that it passes no tags on where deletion cuts. That of the
    source ends with a person's newer one: it may have been restored and deleted again, without authority."""
    source, user = layers.get("source"), layers.get("user")
    stated = user.clock_of(DELETED) if user else None
    if user is not None and _cuts(user):
        return True
    return source is not None and _cuts(source) and (stated or "") <= (source.clock_of(DELETED) or "")


def _cuts(layer: Layer) -> bool:
    return layer.fields.get(DELETED) is True and layer.fields.get(CUT) is True


def stated_tags(layers: Mapping[LayerName, Layer]) -> dict[str, str]:
    """The tags that any layer states: name by key."""
    return {tag: name for layer in layers.values() for tag, name in layer.fields.get(TAGS, {}).items()}


def held_tags(layer: Layer) -> dict[str, str]:
    """The tags that a layer no longer shows, and that no authorised statement took away: name by key."""
    if layer.clocks is None:
        return {}  # what is held is older than what ended it
    return {field[len(HELD) :]: name for field, name in layer.fields.items() if field.startswith(HELD)}


def conducting_tags(layers: Mapping[LayerName, Layer]) -> dict[str, str]:
    """The tags that any layer states or holds. One that is only held counts where it is protective."""
    held = {tag: name for layer in layers.values() for tag, name in held_tags(layer).items()}
    return held | stated_tags(layers)


def stated_by_layer(layers: Mapping[LayerName, Layer]) -> list[Mapping[str, str] | None]:
    """The tags that the source, enriched and user layers state, as `effective_tag_keys` takes them."""
    source, enriched, user = (layers[name].fields.get(TAGS) if name in layers else None for name in LAYERS)
    held = {tag: name for layer in layers.values() for tag, name in held_tags(layer).items()}
    return [source, {**held, **(enriched or {})} if held else enriched, user]


def suppressions(layers: Mapping[LayerName, Layer]) -> dict[str, dict[str, Any]]:
    """By tag key: who suppressed the tag on this asset, why, and which origins it had then."""
    user = layers.get("user")
    fields = user.fields if user else {}
    return {key[len(SUPPRESSED) :]: fields[key] for key in fields if key.startswith(SUPPRESSED)}


def without_stated(layers: Mapping[LayerName, Layer], derived: DerivedTags) -> DerivedTags:
    """A tag that an asset states itself is not listed as derived as well."""
    if not (derived.propagated or derived.inherited):
        return derived
    stated = stated_tags(layers)
    return DerivedTags(
        *({tag: name for tag, name in tags.items() if tag not in stated} for tags in derived),
    )


def tags_of(
    layers: Mapping[LayerName, Layer],
    derived: DerivedTags = NO_DERIVED_TAGS,
    protective: Collection[str] = PROTECTIVE,
    names: Mapping[str, str] = NO_NAMES,
) -> dict[str, list[str]]:
    """`{source, enriched, user, propagated, inherited, shown, effective}`: each a sorted list of names.

    A layer's are as it states them. What is in effect is called as it is defined (`names`): who may state a tag does
    not rename it.

    A suppression hides a derived tag, never one that the asset states itself. A tag that is held is in effect if it is
    protective, and not listed anywhere else.
    """
    stated: dict[str, dict[str, str]] = {
        name: (layers[name].fields.get(TAGS, {}) if name in layers else {}) for name in LAYERS
    }
    shown = stated["source"] or stated["user"]
    protecting = {tag: name for tag, name in conducting_tags(layers).items() if tag in protective}
    propagated, inherited = without_stated(layers, derived)
    if propagated or inherited:
        hidden = suppressions(layers)
        both = {**inherited, **propagated}.items()
        protecting |= {tag: name for tag, name in both if tag in protective and tag not in hidden}
    return {
        **{layer: _names(tags.values()) for layer, tags in stated.items()},
        "propagated": _names(propagated.values()),
        "inherited": _names(inherited.values()),
        "shown": _names(shown.values()),
        "effective": _names(names.get(tag, name) for tag, name in (protecting | shown).items()),
    }


def effective_tag_keys(
    stated: Sequence[Mapping[str, str] | None],
    derived: Iterable[str],
    suppressed: Collection[str],
    protective: Collection[str],
) -> set[str]:
    """The keys of `tags_of(…)["effective"]`, from what the source, enriched and user layers state: for many assets at
    once, where names and order do not matter. What is held counts with the enriched layer: that is not shown either."""
    source, enriched, user = stated
    effective = set(source or user or ())
    if enriched or (source and user):
        effective.update(tag for layer in stated for tag in layer or () if tag in protective)
    for tag in derived:
        if tag in protective and (tag not in suppressed or any(tag in layer for layer in stated if layer)):
            effective.add(tag)
    return effective


def merged_attributes(
    source: Mapping[str, Any] | None, enriched: Mapping[str, Any] | None, user: Mapping[str, Any] | None
) -> dict[str, Any]:
    """`shown_fields` of the fields of each layer."""
    shown = {**(source or {}), **(enriched or {}), **(user or {})}
    return {key: value for key, value in shown.items() if not key.startswith("$") and key != TAGS}


def asset_view(
    *,
    metadata_id: str,
    tenant_id: str,
    qualified_name: str,
    layers: Mapping[LayerName, Layer],
    version: int,
    created_at: str,
    updated_at: str,
    fresh_as_of: str,
    derived: DerivedTags = NO_DERIVED_TAGS,
    protective: Collection[str] = PROTECTIVE,
    names: Mapping[str, str] = NO_NAMES,
    at_risk: Sequence[str] = (),
) -> dict[str, Any]:
    """An asset in the shape of the public contract."""
    tags = tags_of(layers, derived, protective, names)
    fields = shown_fields(layers)
    attributes: dict[str, Any] = {
        "name": fields.pop("name", None),
        "qualified_name": qualified_name,
        **{key: fields.pop(key, None) for key in ("description", "owner", "created_by", "data_source", "parent")},
        "tags": tags.pop("shown"),
        "business_terms": fields.pop("business_terms", []),
        **dict(sorted(fields.items())),
    }
    return {
        "metadata_id": metadata_id,
        "entity_type": entity_type(layers),
        "attributes": attributes,
        "tags": tags,
        "at_risk": list(at_risk),
        "tenant_id": tenant_id,
        "version": version,
        "is_deleted": is_deleted(layers),
        "created_at": created_at,
        "updated_at": updated_at,
        "fresh_as_of": fresh_as_of,
    }


def _names(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.casefold(), name))
