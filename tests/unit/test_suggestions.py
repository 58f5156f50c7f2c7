"""Hints for names that are not known."""

import pytest

from lily.model.suggestions import hint

KNOWN = ("entity_type", "tag", "limit", "cursor")


@pytest.mark.parametrize(
    ("given", "meant"),
    [("entity_typ", "entity_type"), ("Limit", "limit"), ("tags", "tag"), ("curser", "cursor"), ("LIMTI", "limit")],
)
def test_a_slip_is_answered_with_what_was_meant(given: str, meant: str) -> None:
    assert hint(given, KNOWN) == f"did you mean `{meant}`?"


def test_anything_else_is_answered_with_what_there_is() -> None:
    assert hint("colour", KNOWN) == "known are: cursor, entity_type, limit, tag"
    assert hint("x" * 1_000_000, KNOWN).startswith("known are: ")
    assert hint("x", ()) == "there are none here"
