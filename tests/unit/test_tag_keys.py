"""However a tag is spelled, everything that compares tags finds it: what states it, what names it and what ends it."""

import sys
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from lily.model.assets import effective_tag_keys, held_tags, stated_by_layer, suppressions, tag_key, tags_of
from lily.model.held import RELEASED
from lily.model.layers import Layer, merge
from lily.model.releases import Release, read_release
from lily.model.statements import Statement
from lily.model.values import Checker
from lily.policy import Facts, fold
from lily.policy.names import tag_resource_key
from lily.policy.parsing import parse_policy
from lily.policy.visibility import asset_set
from lily.store.postgres.definitions.tags import tag_rules_of

CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
# Case folding decomposes them.
DECOMPOSED = [one for one in CHARACTERS if not (one.isspace() or unicodedata.is_normalized("NFC", one.casefold()))]
SPELLINGS: list[Callable[[str], str]] = [
    str,
    str.upper,
    str.title,
    str.casefold,
    fold,
    tag_key,
    lambda name: unicodedata.normalize("NFD", name),
    lambda name: unicodedata.normalize("NFC", name.upper()),
]


def stated(at: str, *, authorised: bool = False, **about: Any) -> Layer:
    statement = Statement("source", "upsert", "t", "table", about, authorised=authorised)
    return statement.as_layer("default", at)


def rules_naming(tag: str) -> Any:
    """The tag rules of a tenant whose policies name the tag, as PostgreSQL stores it."""
    return tag_rules_of([("keep", [tag])])


def named_by_a_policy(tag: str) -> Any:
    fields = {
        "name": "p",
        "effect": "deny",
        "subjects": [{"user": "*"}],
        "actions": ["READ"],
        "resources": [{"tag": tag}],
    }
    return asset_set([parse_policy(fields, tenant="default", policy_id="p")])


def test_the_letters_that_folding_decomposes_are_known() -> None:
    assert {"ΐ", "ΰ", "ǰ", "ẖ", "ᾶ"} < set(DECOMPOSED)


def test_every_character_has_one_key_in_policies_and_in_assets() -> None:
    different = [
        one
        for one in CHARACTERS
        if not (
            tag_resource_key(one) == f"t:{tag_key(one)}"
            and tag_key(tag_key(one)) == tag_key(fold(one)) == tag_key(one)
            and tag_key(unicodedata.normalize("NFD", one)) == tag_key(one)
        )
    ]
    assert not different


def test_the_keys_that_are_stored_for_single_characters_stay_as_they_are() -> None:
    """Those of assets were the folded name, without more."""
    assert [one for one in CHARACTERS if tag_key(one) != unicodedata.normalize("NFC", one).casefold()] == []


@pytest.mark.parametrize("spell", SPELLINGS)
def test_a_policy_protects_a_tag_however_either_of_them_spells_it(spell: Callable[[str], str]) -> None:
    for letter in DECOMPOSED:
        tag, spelled = f"{letter}y", spell(f"{letter}y")
        for named, source in ((tag, spelled), (spelled, tag)):
            policies, rules = named_by_a_policy(named), rules_naming(tag_key(named))
            assert rules_naming(fold(tag)) == rules  # as earlier versions have stored it
            assert policies.tags == {tag_key(tag)} == rules.named_by_policies
            assert policies.holds(Facts("x", tags=[source]))
            layer = merge(stated("1", tags=[source]), stated("2", tags=[]))
            assert held_tags(layer) == {tag_key(tag): source}
            assert tags_of({"source": layer}, protective=rules.protective)["effective"] == [source]
            layers = stated_by_layer({"source": layer})
            assert effective_tag_keys(layers, (), (), rules.protective) == {tag_key(tag)}


@pytest.mark.parametrize("spell", SPELLINGS)
def test_a_tag_ends_by_any_spelling(spell: Callable[[str], str]) -> None:
    for letter in DECOMPOSED:
        tag, spelled = f"{letter}y", spell(f"{letter}y")
        release = read_release(Checker(), {"authorised": True, "release": {"kind": "tag", "key": spelled}})
        assert release == Release("tag", tag_key(tag))
        removal = Statement("user", "untag", "t", None, {}, tag=spelled, authorised=True).as_layer("default", "2")
        assert removal.fields[RELEASED + tag_key(tag)] is True
        suppression = Statement("user", "suppress", "t", None, {}, tag=spelled).as_layer("default", "2")
        assert set(suppressions({"user": suppression})) == {tag_key(tag)}
