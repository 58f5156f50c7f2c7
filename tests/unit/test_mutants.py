"""The list of mutants follows the code: `python -m tests.mutants` takes long, so that it went stale would show late."""

from pathlib import Path

import pytest

from tests.mutants.copies import ROOT
from tests.mutants.mutant import Mutant
from tests.mutants.mutants import MUTANTS


def occurrences(mutant: Mutant) -> int:
    path = ROOT / "src" / "lily" / mutant.path
    return path.read_text().count(mutant.text) if path.exists() else 0


def test_the_text_of_every_mutant_occurs_once_in_its_file() -> None:
    assert {mutant.name: occurrences(mutant) for mutant in MUTANTS if occurrences(mutant) != 1} == {}


def test_every_mutant_changes_its_text_and_is_listed_once() -> None:
    assert [mutant.name for mutant in MUTANTS if mutant.text == mutant.fault] == []
    assert [mutant.name for mutant in MUTANTS if MUTANTS.count(mutant) > 1] == []


@pytest.mark.parametrize("path", sorted({path for mutant in MUTANTS for path in mutant.tests}))
def test_the_tests_of_mutants_are_part_of_make_test(path: str) -> None:
    assert (ROOT / path).is_file()
    assert Path(path).parts[1] not in {"faults", "cluster", "engines"}


def test_every_mutant_has_tests() -> None:
    assert [mutant.name for mutant in MUTANTS if not mutant.tests] == []
