"""The process that reads SQL: started when needed, limited, replaced when it fails."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
import uvloop

from lily.api.ingest import sql_analyzer
from lily.api.ingest.sql_analyzer import SqlAnalyzer, Unreadable
from lily.intake.sql.questions import Answer, Question

Result = TypeVar("Result")
VIEW = Question("create view v as select a from t", "postgres", known={})


def with_analyst(work: Callable[[SqlAnalyzer], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        asked = SqlAnalyzer()
        try:
            return await work(asked)
        finally:
            await asked.close()

    return uvloop.run(run())  # as the API is run: its pipes fail in their own way


def test_it_answers_one_after_the_other() -> None:
    async def work(asked: SqlAnalyzer) -> list[Answer]:
        return list(await asyncio.gather(*(asked.ask(VIEW) for _ in range(5))))

    assert {len(told.edges) for told in with_analyst(work)} == {2}


def test_a_script_that_cannot_be_read_does_not_end_it() -> None:
    async def work(asked: SqlAnalyzer) -> int:
        with pytest.raises(Unreadable, match="SQL_SYNTAX"):
            await asked.ask(Question("select (", "postgres", known={}))
        return len((await asked.ask(VIEW)).edges)

    assert with_analyst(work) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "select " + "(" * 100_000 + "1",
        "create view v as select " + "(" * 5_000 + "a" + ")" * 5_000 + " from t",
        "create view v as select " + "case when a then " * 3_000 + "1" + " end" * 3_000 + " from t",
    ],
)
def test_what_is_nested_without_end_is_refused(sql: str) -> None:
    async def work(asked: SqlAnalyzer) -> int:
        with pytest.raises(Unreadable):
            await asked.ask(Question(sql, "postgres", known={}))
        return len((await asked.ask(VIEW)).edges)

    assert with_analyst(work) == 2


def test_one_that_takes_too_long_is_ended_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(asked: SqlAnalyzer) -> int:
        monkeypatch.setattr(sql_analyzer, "SECONDS", 0.5)
        with pytest.raises(Unreadable, match="not read within"):
            await asked.ask(Question(f"create view v as select {'+'.join('a' * 30_000)}", "postgres", known={}))
        monkeypatch.undo()
        return len((await asked.ask(VIEW)).edges)

    assert with_analyst(work) == 2


def test_a_process_that_ended_in_between_is_replaced() -> None:
    async def work(asked: SqlAnalyzer) -> int:
        await asked.ask(VIEW)
        assert asked._process is not None
        asked._process.kill()
        await asked._process.wait()
        return len((await asked.ask(VIEW)).edges)

    assert with_analyst(work) == 2


def test_a_caller_who_goes_away_leaves_no_answer_for_the_next() -> None:
    async def work(asked: SqlAnalyzer) -> int:
        other = Question("create view v as select a, b, c from t", "postgres", known={})
        waiting = asyncio.create_task(asked.ask(other))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return len((await asked.ask(VIEW)).edges)

    assert with_analyst(work) == 2
