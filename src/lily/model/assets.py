"""Assets as people see them: the entity types, the shown value of each field, the effective tags."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from lily.model.layers import TAGS, Layer

LayerName = Literal["source", "enriched", "user"]
LAYERS: tuple[LayerName, ...] = ("source", "enriched", "user")

# Fields that are Lily's own. "$" cannot begin an attribute's name, so they never collide with a user's.
TYPE, DELETED, PARENT_ID = "$type", "$deleted", "$parent"
SUPPRESSED = "$suppressed:"  # followed by a folded tag; holds who suppressed it here, and why

_ENTITY_TYPES = """
    database schema table view materialized_view column index function procedure
    dashboard chart report workbook worksheet field bi_field measure dimension metric dataset
    data_source collection container bucket folder file
    topic stream queue job task pipeline process query notebook
    model ml_model feature feature_group api endpoint service application
    glossary term domain data_product user group
"""
ENTITY_TYPES = frozenset(_ENTITY_TYPES.split())

# A protective tag never stops protecting because another layer is the one shown (contract, "Access").
PROTECTIVE = frozenset({"pii", "gdpr"})


def fold_tag(tag: str) -> str:
    """Names of tags compare without case."""
    return tag.casefold()


def shown_fields(layers: Mapping[LayerName, Layer]) -> dict[str, Any]:
    """The attributes shown: the person's, else the enriched, else the source's. Without tags and Lily's own fields."""
    shown: dict[str, Any] = {}
    for name in LAYERS:
        if name in layers:
            shown |= layers[name].fields
    return {key: value for key, value in shown.items() if not key.startswith("$") and key != TAGS}


def entity_type(layers: Mapping[LayerName, Layer]) -> str:
    return next(
        (str(layers[name].fields[TYPE]) for name in LAYERS if name in layers and TYPE in layers[name].fields), ""
    )


def is_deleted(layers: Mapping[LayerName, Layer]) -> bool:
    """A person's deletion outlives source refreshes; a person's restore outlives the source's older deletion."""
    source, user = layers.get("source"), layers.get("user")
    person = user.fields.get(DELETED) if user else None
    if person is True:
        return True
    if source is None or source.fields.get(DELETED) is not True:
        return False
    return not (person is False and user and (user.clock_of(DELETED) or "") > (source.clock_of(DELETED) or ""))


def tags_of(layers: Mapping[LayerName, Layer]) -> dict[str, list[str]]:
    """`{source, enriched, user, propagated, inherited, shown, effective}`: each a sorted list of names as stated."""
    stated: dict[str, dict[str, str]] = {
        name: (layers[name].fields.get(TAGS, {}) if name in layers else {}) for name in LAYERS
    }
    shown = stated["source"] or stated["user"]
    protective = {tag: name for layer in stated.values() for tag, name in layer.items() if tag in PROTECTIVE}
    return {
        **{layer: _names(tags.values()) for layer, tags in stated.items()},
        "propagated": [],
        "inherited": [],
        "shown": _names(shown.values()),
        "effective": _names((protective | shown).values()),
    }


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
) -> dict[str, Any]:
    """The asset of the contract."""
    tags = tags_of(layers)
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
        "at_risk": [],
        "tenant_id": tenant_id,
        "version": version,
        "is_deleted": is_deleted(layers),
        "created_at": created_at,
        "updated_at": updated_at,
        "fresh_as_of": fresh_as_of,
    }


def _names(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (name.casefold(), name))
