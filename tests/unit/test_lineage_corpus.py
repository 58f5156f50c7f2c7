"""Scripts in the style of real warehouses, with the lineage that they have. Its README shows how to add one."""

from collections import Counter
from pathlib import Path

import pytest

from tests.lineage_cases import PATHS, Case, found_edges


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_script_has_the_lineage_that_it_states(path: Path) -> None:
    case = Case.read(path)
    result = case.analyzed()
    assert found_edges(result.edges) == case.edges()
    counts = {"partial": result.partial, "not understood": result.not_understood}
    assert counts == {name: int((case.stated(name) or ["0"])[0]) for name in counts}, result.warnings
    for text in case.stated("warning"):
        assert any(text in warning for warning in result.warnings), result.warnings
    for text in case.stated("because"):
        assert any(text in (outcome.reason or "") for outcome in result.without_edges), result.without_edges


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_statement_is_counted_and_one_without_edges_gives_its_reason(path: Path) -> None:
    result = Case.read(path).analyzed()
    assert result.understood + result.partial + result.not_understood == result.statements
    assert all(outcome.reason and outcome.line > 0 for outcome in result.without_edges)
    assert len(result.edges) == len(result.definitions)


def test_the_corpus_covers_ten_dialects_and_two_hundred_statements() -> None:
    statements = Counter[str]()
    for path in PATHS:
        statements[path.parent.name] += Case.read(path).analyzed().statements
    assert len(statements) >= 10
    assert statements.total() >= 200
