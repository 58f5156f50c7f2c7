"""Scripts in the style of real warehouses, with the lineage that they have. Its README shows how to add one."""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from lily.intake.sql.analysis import analyze
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult, KnownTable

CORPUS = Path(__file__).parent.parent / "lineage_corpus"
CASES = sorted(CORPUS.glob("*/*.case"))
TABLE = re.compile(r"([^\s(,]+)\(([^)]*)\)")
MARKS = {"derived-from": "<-", "influences": "~"}


class Case(NamedTuple):
    dialect: str
    sql: str
    known: dict[str, KnownTable]
    database: str | None
    schema: str | None
    expected: list[str]

    @classmethod
    def read(cls, path: Path) -> "Case":
        text, _, after = path.read_text().partition("\n--->\n")
        head, _, sql = (
            text.partition("\n\n") if text.startswith(("known:", "partly known:", "default:")) else ("", "", text)
        )
        settings = [tuple(line.split(": ", 1)) for line in head.splitlines()]
        known = {
            name: table(name, columns, ordered=kind == "known")
            for kind, given in settings
            if kind != "default"
            for name, columns in TABLE.findall(given)
        }
        default = next((given.split(".") for kind, given in settings if kind == "default"), [])
        database, schema = [None, None, *default][-2:]
        return cls(path.parent.name, sql, known, database, schema, [line for line in after.splitlines() if line])

    def analyzed(self) -> AnalysisResult:
        return analyze(AnalysisRequest(self.sql, self.dialect, self.database, self.schema, self.known))

    def edges(self) -> set[str]:
        found = set[str]()
        for line in self.expected:
            if (written := re.fullmatch(r"(\S+) (<-|~) (.+)", line)) is not None:
                found |= {f"{written[1]} {written[2]} {source}" for source in written[3].split(", ")}
        return found

    def stated(self, setting: str) -> list[str]:
        return [line.partition(": ")[2] for line in self.expected if line.startswith(f"{setting}: ")]


def table(name: str, columns: str, *, ordered: bool) -> KnownTable:
    names = [column.strip() for column in columns.split(",") if column.strip()]
    top = {column: f"{name}.{column}" for column in names if "." not in column}
    return KnownTable(name, top, ordered, {column: f"{name}.{column}" for column in names if "." in column})


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_script_has_the_lineage_that_it_states(path: Path) -> None:
    case = Case.read(path)
    result = case.analyzed()
    assert {f"{end} {MARKS[kind]} {start}" for start, end, kind in result.edges} == case.edges()
    counts = {"partial": result.partial, "not understood": result.not_understood}
    assert counts == {name: int((case.stated(name) or ["0"])[0]) for name in counts}, result.warnings
    for text in case.stated("warning"):
        assert any(text in warning for warning in result.warnings), result.warnings
    for text in case.stated("because"):
        assert any(text in (outcome.reason or "") for outcome in result.without_edges), result.without_edges


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_statement_is_counted_and_one_without_edges_gives_its_reason(path: Path) -> None:
    result = Case.read(path).analyzed()
    assert result.understood + result.partial + result.not_understood == result.statements
    assert all(outcome.reason and outcome.line > 0 for outcome in result.without_edges)
    assert len(result.edges) == len(result.definitions)


def test_the_corpus_covers_ten_dialects_and_two_hundred_statements() -> None:
    statements = Counter[str]()
    for path in CASES:
        statements[path.parent.name] += Case.read(path).analyzed().statements
    assert len(statements) >= 10
    assert statements.total() >= 200
