"""The cases of tests/lineage_corpus. Its README shows what a file contains."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lily.intake.sql.analysis import analyze
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult, KnownTable

CORPUS = Path(__file__).parent / "lineage_corpus"
PATHS = sorted(CORPUS.glob("*/*.case"))
_TABLE = re.compile(r"([^\s(,]+)\(([^)]*)\)")
_MARKS = {"derived-from": "<-", "influences": "~"}


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
        has_settings = text.startswith(("known:", "partly known:", "default:"))
        head, _, sql = text.partition("\n\n") if has_settings else ("", "", text)
        settings = [tuple(line.split(": ", 1)) for line in head.splitlines()]
        known = {
            name: _known(name, columns, ordered=kind == "known")
            for kind, given in settings
            if kind != "default"
            for name, columns in _TABLE.findall(given)
        }
        default = next((given.split(".") for kind, given in settings if kind == "default"), [])
        database, schema = [None, None, *default][-2:]
        return cls(path.parent.name, sql, known, database, schema, [line for line in after.splitlines() if line])

    def analyzed(self, sql: str | None = None) -> AnalysisResult:
        return analyze(AnalysisRequest(sql or self.sql, self.dialect, self.database, self.schema, self.known))

    def edges(self) -> set[str]:
        found = set[str]()
        for line in self.expected:
            if (written := re.fullmatch(r"(\S+) (<-|~) (.+)", line)) is not None:
                found |= {f"{written[1]} {written[2]} {source}" for source in written[3].split(", ")}
        return found

    def stated(self, setting: str) -> list[str]:
        return [line.partition(": ")[2] for line in self.expected if line.startswith(f"{setting}: ")]


def found_edges(edges: Iterable[tuple[str, str, str]]) -> set[str]:
    """As a case writes them."""
    return {f"{end} {_MARKS[kind]} {start}" for start, end, kind in edges}


def _known(name: str, columns: str, *, ordered: bool) -> KnownTable:
    names = [column.strip() for column in columns.split(",") if column.strip()]
    top = {column: f"{name}.{column}" for column in names if "." not in column}
    return KnownTable(name, top, ordered, {column: f"{name}.{column}" for column in names if "." in column})
