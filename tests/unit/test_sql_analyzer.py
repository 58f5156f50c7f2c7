"""The SQL analyzer process: started when needed, limited, replaced when it fails."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import TypeVar

import pytest
import uvloop

from lily.api.http.errors import Declined
from lily.api.ingest.sql_analyzer import MAX_SCRIPTS_OF_TENANT, SqlAnalyzer
from lily.intake.sql import process as sql_process
from lily.intake.sql.process import Unreadable
from lily.intake.sql.protocol import AnalysisRequest, AnalysisResult

Result = TypeVar("Result")
VIEW = AnalysisRequest("create view v as select a from t", "postgres", known={})


def with_analyzer(work: Callable[[SqlAnalyzer], Awaitable[Result]], processes: int = 1) -> Result:
    async def run() -> Result:
        analyzer = SqlAnalyzer(processes)
        try:
            return await work(analyzer)
        finally:
            await analyzer.close()

    return uvloop.run(run())  # as the API is run: its pipes fail in their own way


def test_concurrent_requests_are_served_one_after_the_other() -> None:
    async def work(analyzer: SqlAnalyzer) -> list[AnalysisResult]:
        return list(await asyncio.gather(*(analyzer.analyze("north", VIEW) for _ in range(5))))

    assert {len(result.edges) for result in with_analyzer(work)} == {2}


def test_a_tenant_with_many_scripts_does_not_shut_others_out() -> None:
    async def work(analyzer: SqlAnalyzer) -> None:
        with ExitStack() as scripts:
            for _ in range(MAX_SCRIPTS_OF_TENANT):
                scripts.enter_context(analyzer.script("north"))
            with pytest.raises(Declined, match="TOO_MANY_SCRIPTS") as caught, analyzer.script("north"):
                pass
            assert (caught.value.status, "Retry-After" in caught.value.headers) == (429, True)
            with analyzer.script("south"):
                await analyzer.analyze("south", VIEW)
        with analyzer.script("north"):
            await analyzer.analyze("north", VIEW)

    with_analyzer(work)


def test_tenants_take_turns() -> None:
    async def work(analyzer: SqlAnalyzer) -> list[str]:
        done: list[str] = []

        async def analyze(tenant: str) -> None:
            await analyzer.analyze(tenant, VIEW)
            done.append(tenant)

        await asyncio.gather(*(analyze(tenant) for tenant in [*["north"] * 5, "south", "south", "east"]))
        return done

    assert with_analyzer(work) == ["north", "north", "south", "east", "north", "south", "north", "north"]


def test_a_slow_script_of_one_tenant_does_not_stall_another() -> None:
    slow = AnalysisRequest("create view v as select " + "+".join("a" * 20_000), "postgres", known={})

    async def work(analyzer: SqlAnalyzer) -> list[str]:
        done: list[str] = []

        async def analyze(tenant: str, request: AnalysisRequest) -> None:
            await analyzer.analyze(tenant, request)
            done.append(tenant)

        await asyncio.gather(*(analyzer.analyze(tenant, VIEW) for tenant in ("north", "south")))  # both have started
        await asyncio.gather(analyze("north", slow), analyze("north", slow), analyze("south", VIEW))
        return done

    assert with_analyzer(work, processes=2)[0] == "south"


def test_a_script_is_analyzed_where_it_was_parsed() -> None:
    async def work(analyzer: SqlAnalyzer) -> bool:
        await analyzer.analyze("north", VIEW)
        first = analyzer._free[-1]
        await analyzer.analyze("north", AnalysisRequest("select 1", "postgres", known={}))
        analyzer._free.reverse()
        await analyzer.analyze("north", AnalysisRequest("select 2", "postgres", known={}))
        with analyzer._process("select 1") as process:
            return process is first

    assert with_analyzer(work, processes=2)


def test_a_syntax_error_does_not_end_the_process() -> None:
    async def work(analyzer: SqlAnalyzer) -> int:
        with pytest.raises(Unreadable, match="SQL_SYNTAX"):
            await analyzer.analyze("north", AnalysisRequest("select (", "postgres", known={}))
        return len((await analyzer.analyze("north", VIEW)).edges)

    assert with_analyzer(work) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "select " + "(" * 100_000 + "1",
        "create view v as select " + "(" * 5_000 + "a" + ")" * 5_000 + " from t",
        "create view v as select " + "case when a then " * 3_000 + "1" + " end" * 3_000 + " from t",
    ],
)
def test_excessive_nesting_is_refused(sql: str) -> None:
    async def work(analyzer: SqlAnalyzer) -> int:
        with pytest.raises(Unreadable):
            await analyzer.analyze("north", AnalysisRequest(sql, "postgres", known={}))
        return len((await analyzer.analyze("north", VIEW)).edges)

    assert with_analyzer(work) == 2


def test_a_statement_that_is_nested_too_deeply_does_not_affect_the_others() -> None:
    deep = "create view w as select " + "(" * 10_000 + "a" + ")" * 10_000 + " from t"

    async def work(analyzer: SqlAnalyzer) -> AnalysisResult:
        return await analyzer.analyze("north", AnalysisRequest(f"{VIEW.sql};\n{deep}", "postgres", known={}))

    result = with_analyzer(work)
    assert (result.understood, result.not_understood, len(result.edges)) == (1, 1, 2)
    assert result.without_edges[0][:2] == (2, 2)
    assert "nested too deeply" in str(result.without_edges[0].reason)


def test_a_query_that_doubles_its_columns_again_and_again_is_refused() -> None:
    step = "c{next} as (select x.*, y.* from c{n} x cross join c{n} y)"
    steps = ["with c0 as (select a, b from t)", *(step.format(next=n + 1, n=n) for n in range(40))]
    sql = " ".join(["create view v as", ", ".join(steps), "select * from c40"])

    async def work(analyzer: SqlAnalyzer) -> int:
        with pytest.raises(Unreadable, match="TOO_COMPLEX"):
            await analyzer.analyze("north", AnalysisRequest(sql, "postgres", known={}))
        return len((await analyzer.analyze("north", VIEW)).edges)

    assert with_analyzer(work) == 2


def test_a_process_that_takes_too_long_is_killed_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(analyzer: SqlAnalyzer) -> int:
        monkeypatch.setattr(sql_process, "SECONDS", 0.5)
        with pytest.raises(Unreadable, match="not parsed within"):
            await analyzer.analyze(
                "north", AnalysisRequest(f"create view v as select {'+'.join('a' * 30_000)}", "postgres", known={})
            )
        monkeypatch.undo()
        return len((await analyzer.analyze("north", VIEW)).edges)

    assert with_analyzer(work) == 2


def test_a_process_that_ended_between_requests_is_replaced() -> None:
    async def work(analyzer: SqlAnalyzer) -> int:
        await analyzer.analyze("north", VIEW)
        (process,) = [process._process for process in analyzer._all]
        assert process is not None
        process.kill()
        await process.wait()
        return len((await analyzer.analyze("north", VIEW)).edges)

    assert with_analyzer(work) == 2


def test_a_cancelled_request_leaves_no_result_for_the_next_one() -> None:
    async def work(analyzer: SqlAnalyzer) -> int:
        other = AnalysisRequest("create view v as select a, b, c from t", "postgres", known={})
        waiting = asyncio.create_task(analyzer.analyze("north", other))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return len((await analyzer.analyze("north", VIEW)).edges)

    assert with_analyzer(work) == 2
