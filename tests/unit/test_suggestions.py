"""Hints for unknown names."""

import pytest

from lily.model.suggestions import hint

KNOWN = ("entity_type", "tag", "limit", "cursor")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("entity_typ", "entity_type"), ("Limit", "limit"), ("tags", "tag"), ("curser", "cursor"), ("LIMTI", "limit")],
)
def test_a_typo_gets_the_similar_name(given: str, meant: str) -> None:
    assert hint(given, KNOWN) == f"did you mean `{meant}`?"


def test_another_name_gets_the_list_of_known_ones() -> None:
    assert hint("colour", KNOWN) == "use one of: cursor, entity_type, limit, tag"
    assert hint("x" * 1_000_000, KNOWN).startswith("use one of: ")
    assert hint("x", ()) == "there are none"


def test_names_that_share_a_few_letters_are_not_similar() -> None:
    assert hint("active", ("time", "operation")) == "use one of: operation, time"
