"""What must not change the lineage of SQL: formatting, comments, the case of names, quoting, aliases, wrapping."""

import re
from collections.abc import Callable
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from lily.intake.sql.analysis import analyze
from lily.intake.sql.dialects import dialect_of
from lily.intake.sql.protocol import AnalysisRequest, KnownTable
from lily.intake.sql.script.piece import QUOTED, tokens_of
from tests.lineage_cases import PATHS, Case, found_edges

# Not in cases where the end of a line, or the case of a path, has a meaning.
_LINES = re.compile(r"^\s*(?:go|delimiter\b.*|/)\s*$|[{@$]|--|/\*", re.IGNORECASE | re.MULTILINE)
CASES = [case for path in PATHS if not _LINES.search((case := Case.read(path)).sql)]
GAPS = [" ", "\n", "\t  ", "\n\n   ", " /* a note; with a semicolon */ ", " -- and 'one' more\n"]


def rewritten(case: Case, gaps: list[str], spelled: Callable[[str], str]) -> str:
    """The script with other white space wherever it has some, and its words in another case."""
    parts, end = list[str](), 0
    for at, token in enumerate(tokens_of(case.sql, dialect_of(case.dialect))):
        between, text = case.sql[end : token.start], case.sql[token.start : token.end + 1]
        parts.append(gaps[at % len(gaps)] if between and not between.strip() else between)
        parts.append(text if token.token_type in QUOTED else spelled(text))
        end = token.end + 1
    return "".join(parts) + case.sql[end:]


@settings(max_examples=80)
@given(st.sampled_from(CASES), st.lists(st.sampled_from(GAPS), min_size=1, max_size=7))
def test_formatting_and_comments_do_not_change_the_lineage(case: Case, gaps: list[str]) -> None:
    assert found_edges(case.analyzed(rewritten(case, gaps, str)).edges) == case.edges()


@settings(max_examples=80)
@given(st.sampled_from(CASES), st.sampled_from([str.upper, str.title, str.swapcase]))
def test_the_case_of_unquoted_names_does_not_change_the_lineage(case: Case, spelled: Callable[[str], str]) -> None:
    assert found_edges(case.analyzed(rewritten(case, [" "], spelled)).edges) == case.edges()


_CREATED = re.compile(
    r"\s*(create (?:or replace )?(?:table|view) \S+ as\s+)"
    r"((?:select|with)\b(?:(?!\bwith (?:no|check|local|ur)\b)[^;])*)",
    re.IGNORECASE,
)
# T-SQL has no common table expressions in subqueries.
QUERIES = [(case, found) for case in CASES if case.dialect != "tsql" and (found := _CREATED.fullmatch(case.sql))]
WRAPPED = ["select * from ({}) w", "with w as ({}) select * from w", "({})", "select w.* from ({}) as w"]


@settings(max_examples=80)
@given(st.sampled_from(QUERIES), st.sampled_from(WRAPPED))
def test_wrapping_what_a_script_creates_does_not_change_the_lineage(
    given_case: tuple[Case, re.Match[str]], wrapped: str
) -> None:
    case, found = given_case
    assert found_edges(case.analyzed(found[1] + wrapped.format(found[2])).edges) == case.edges()


COLUMNS = {"a": ["id", "x", "y"], "b": ["id", "z"], "c": ["k"], "d": []}
KNOWN = {
    name: KnownTable(name, {column: f"{name}.{column}" for column in columns}, ordered=name in "ab")
    for name, columns in COLUMNS.items()
    if columns
}


class Style(NamedTuple):
    """How a query is written."""

    prefix: str
    quoted: bool
    upper: bool

    def name(self, name: str) -> str:
        return f'"{name}"' if self.quoted else name.upper() if self.upper else name

    def alias(self, number: int) -> str:
        return self.name(f"{self.prefix}{number}")


class Source(NamedTuple):
    table: str | None
    query: "Query | None"
    columns: list[str]


class Query(NamedTuple):
    """`items` are pairs of a source and a column; None stands for `*`."""

    sources: list[Source]
    items: list[tuple[int, str]] | None
    condition: tuple[int, str] | None
    union: "Query | None"
    common: bool  # whether subqueries are written as common table expressions

    def sql(self, style: Style) -> str:
        counter = iter(range(1_000))
        aliases = [style.alias(next(counter)) for _ in self.sources]
        ctes, sources = list[str](), list[str]()
        for source, alias in zip(self.sources, aliases, strict=True):
            if source.query is None:
                sources.append(f"{style.name(source.table or '')} as {alias}")
            elif self.common:
                ctes.append(f"{style.name('cte_' + alias.strip(chr(34)).lower())} as ({source.query.sql(style)})")
                sources.append(f"{style.name('cte_' + alias.strip(chr(34)).lower())} as {alias}")
            else:
                sources.append(f"({source.query.sql(style)}) as {alias}")
        picked = (
            ", ".join(f"{aliases[s]}.{style.name(c)} as {style.name(f'o{n}')}" for n, (s, c) in enumerate(self.items))
            if self.items
            else "*"
        )
        text = " ".join(["select", picked, "from", " cross join ".join(sources)])
        if self.condition is not None:
            text += f" where {aliases[self.condition[0]]}.{style.name(self.condition[1])} > 1"
        if self.union is not None:
            text += f" union all {self.union.sql(style)}"
        return f"with {', '.join(ctes)} {text}" if ctes else text


@st.composite
def queries(draw: st.DrawFn, depth: int = 2) -> Query:
    sources = [draw(_sources(depth)) for _ in range(draw(st.integers(1, 2)))]
    columns = [(at, column) for at, source in enumerate(sources) for column in source.columns]
    only_star = len(sources) == 1 and draw(st.booleans())
    items = None if only_star else draw(st.lists(st.sampled_from(columns), min_size=1, max_size=3))
    condition = draw(st.none() | st.sampled_from(columns))
    union = None
    if items is not None and draw(st.booleans()):
        picked = [draw(st.sampled_from(columns)) for _ in items]
        union = Query(sources, picked, None, None, common=False)
    return Query(sources, items, condition, union, draw(st.booleans()))


@st.composite
def _sources(draw: st.DrawFn, depth: int) -> Source:
    if depth and draw(st.booleans()):
        query = draw(queries(depth - 1))
        names = [f"o{n}" for n in range(len(query.items))] if query.items else query.sources[0].columns
        return Source(None, query, names)
    table = draw(st.sampled_from(sorted(COLUMNS)))
    return Source(table, None, COLUMNS[table] or ["m", "n"])


def lineage(query: str) -> set[str]:
    return found_edges(analyze(AnalysisRequest(f"create view v as {query}", "postgres", known=KNOWN)).edges)


PLAIN = Style("t", quoted=False, upper=False)
STYLES = st.builds(Style, st.sampled_from(["q", "src", "alias_"]), st.booleans(), st.booleans())


@given(queries(), STYLES)
def test_aliases_quoting_and_case_do_not_change_the_lineage(query: Query, style: Style) -> None:
    assert lineage(query.sql(style)) == lineage(query.sql(PLAIN))


@given(
    queries(),
    st.sampled_from(WRAPPED),
)
def test_wrapping_a_query_does_not_change_the_lineage(query: Query, wrapped: str) -> None:
    assert lineage(wrapped.format(query.sql(PLAIN))) == lineage(query.sql(PLAIN))


@given(queries())
def test_every_edge_starts_at_a_table_that_the_query_reads(query: Query) -> None:
    text = query.sql(PLAIN)
    for edge in lineage(text):
        table = edge.split(" ")[2].split(".")[0]
        assert re.search(rf"\b{table} as ", text)
