"""Names: what they are normalised to, and that no name costs more than a name of the allowed length."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.api.reads.references import normal
from lily.model import values
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME, Checker

MARKS = "\u0300\u0316"  # two combining marks whose order normal form C changes


class Counting:
    """The standard library's normalisation, with the texts it was called with."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def normalize(self, form: Any, text: str) -> str:
        self.texts.append(text)
        return unicodedata.normalize(form, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(unicodedata, name)


@pytest.fixture
def normalised(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    counting = Counting()
    monkeypatch.setattr(values, "unicodedata", counting)
    return counting.texts


@pytest.mark.parametrize("name", ["a" + MARKS * 20_000, "a" + MARKS * 16, "é" * (4 * MAX_NAME + 1)])
def test_a_name_that_is_expensive_to_normalise_is_refused_before_it_is(name: str, normalised: list[str]) -> None:
    checker = Checker()
    assert checker.name(name, "name") is None
    assert [problem.code for problem in checker.problems] == ["TOO_LONG"]
    assert normalised == []


@pytest.mark.parametrize("reference", ["a" + MARKS * 20_000, "é" * (4 * MAX_QUALIFIED_NAME + 1)])
def test_a_reference_that_no_name_can_have_is_not_normalised(reference: str, normalised: list[str]) -> None:
    assert normal(f" {reference}\n") == reference
    assert normalised == []


@pytest.mark.parametrize("composed", ["ᾂ", "각", "ệ"])
def test_a_decomposed_name_may_be_as_long_as_the_composed_one(composed: str) -> None:
    longest = composed * (MAX_NAME // len(composed.encode()))
    assert Checker().name(unicodedata.normalize("NFD", longest), "name") == longest


@given(st.text(alphabet="aé각 \n" + MARKS, max_size=29))
def test_a_reference_is_normalised_like_the_name_it_refers_to(text: str) -> None:
    checker = Checker()
    name = checker.name(text, "name")
    assert name is None or normal(text) == name
