"""While Lily restarts or has lost PostgreSQL, Trino gets an error or the right masks, and never the lack of a mask."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from tests import trino_requests as opa
from tests.contract.door import Door
from tests.contract.trino_engine import PEOPLE, Engine, engine_of
from tests.extra_api import extra_api, until
from tests.relay_proxy import Proxy, proxy_of

pytestmark = pytest.mark.campaign  # it waits for other processes again and again

MASKS = opa.masks(PEOPLE, {"id": "bigint", "email": "varchar"})
ONE = opa.request("GetColumnMask", resource=opa.column(PEOPLE, "email"))
UNAVAILABLE = 503


@pytest.fixture
def engine(door: Door) -> Engine:
    engine = engine_of(door)
    door.ingest(f"{PEOPLE}.email", "column", parent=PEOPLE, tags=["PII"])
    return engine


def seen(engine: Engine) -> set[str]:
    """What a request for masks and one for a single mask get: `masked`, an error, or `clear` if a mask is missing."""
    return {_one(engine, "batch-column-masking", MASKS), _one(engine, "column-masking", ONE)}


def _one(engine: Engine, address: str, body: opa.Json) -> str:
    try:
        answer = engine.post(address, body)
    except httpx.TransportError:
        return "unreachable"
    if answer.status_code != httpx.codes.OK:
        return f"error {answer.status_code}"
    return "masked" if answer.json()["result"] else "clear"


@contextmanager
def asking(engines: list[Engine], outcomes: set[str]) -> Iterator[None]:
    """Asks the last of the engines again and again, in four threads."""
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            outcomes.update(seen(engines[-1]))

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask) for _ in range(4)]
        try:
            yield
        finally:
            ended.set()
    for one in asked:
        one.result()


def test_a_restart_costs_answers_and_never_a_mask(engine: Engine, tmp_path: Path) -> None:
    outcomes: set[str] = set()
    engines = [engine]
    with asking(engines, outcomes):
        for number in range(3):
            with extra_api(engine.door.stack, tmp_path / f"api-{number}.log") as restarted:
                engines.append(replace(engine, door=replace(engine.door, stack=restarted)))
                until(lambda: seen(engines[-1]) == {"masked"}, 30)
    assert "masked" in outcomes
    assert not {one for one in outcomes if one == "clear" or one.startswith(("error 2", "error 4"))}


@dataclass(frozen=True)
class Behind:
    """An API whose way to PostgreSQL can be cut."""

    engine: Engine
    proxy: Proxy
    loop: asyncio.AbstractEventLoop

    def cut(self) -> None:
        self.loop.call_soon_threadsafe(self.proxy.cut)

    def resume(self) -> None:
        self.loop.call_soon_threadsafe(self.proxy.resume)


@contextmanager
def behind_proxy(engine: Engine, log: Path) -> Iterator[Behind]:
    with running_loop() as loop:
        opened = proxy_of(engine.door.stack.database_of("lily_api"))
        proxy, url = asyncio.run_coroutine_threadsafe(opened.__aenter__(), loop).result(30)
        try:
            with extra_api(engine.door.stack, log, LILY_DATABASE_URL=url) as found:
                yield Behind(replace(engine, door=replace(engine.door, stack=found)), proxy, loop)
        finally:
            asyncio.run_coroutine_threadsafe(opened.__aexit__(None, None, None), loop).result(30)


@contextmanager
def running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_without_postgresql_a_request_that_was_answered_before_is_an_error(engine: Engine, tmp_path: Path) -> None:
    with behind_proxy(engine, tmp_path / "api.log") as behind:
        assert seen(behind.engine) == {"masked"}
        behind.cut()
        until(lambda: seen(behind.engine) == {f"error {UNAVAILABLE}"}, 30)
        assert seen(behind.engine) == {f"error {UNAVAILABLE}"}
        behind.resume()
        until(lambda: seen(behind.engine) == {"masked"}, 60)
