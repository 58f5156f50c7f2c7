"""kill -9 in the midst of propagation: afterwards every tag is where the graph says, and nothing said was lost."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx
import orjson
import psycopg
import pytest

from lily.model import ids
from lily.store.postgres.access.administration import create_tenant, create_token
from tests.faults.killer import Killer
from tests.faults.own_stack import OwnStack, own_stack
from tests.stored_lineage import expected_derived, stored_derived

pytestmark = pytest.mark.faults

TENANT = "north"
NAMES = [f"shop.public.t{number}" for number in range(3_000)]
TYPE = "derived-from"
VICTIMS = ("worker", "PostgreSQL", "worker", "PostgreSQL", "worker", "pipeline JVM")
WRITERS = 3
PACE_SECONDS = 0.03
LONGEST_WAIT_SECONDS = 60.0  # for a run to kill in its midst: a new Spark takes twenty on a quiet machine

_RUNS = (
    "select from pg_stat_activity where application_name = 'lily-propagation' and state = 'active' "
    "and query like 'select finished, began from propagate(%'"
)

Link = tuple[str, str]


def test_derived_tags_follow_the_graph_whatever_is_killed_while_they_travel(capsys: pytest.CaptureFixture[str]) -> None:
    random = Random(11)
    with own_stack(environment={"LILY_LAKE__TRIGGER_SECONDS": "2"}) as stack:
        create_tenant(stack.database, TENANT)
        token = create_token(stack.database, TENANT, ["admin"], user="clerk")
        links = _graph(random)
        with _door(stack, token) as http:
            _ingest(http, links)
        editors = [Editor(stack, token, links, number) for number in range(WRITERS)]
        killer = Killer(stack, random)
        with _at_work(editors):
            for victim in VICTIMS:
                _kill_in_the_midst(stack, killer, victim)
        settled = stack.wait_until_settled()
        with capsys.disabled():
            done = sum(editor.acknowledged for editor in editors)
            print(f"\n{len(killer.kills)} kills in mid-propagation, {done} changes acknowledged")
            print(f"settled     {settled:.1f} s after the load was lifted")
        assert len(killer.kills) == len(VICTIMS)
        with psycopg.connect(stack.database, autocommit=True) as owner:
            stored, expected = stored_derived(owner, TENANT), expected_derived(owner, TENANT)
            assert len(stored) > 1_000
            assert stored == expected
            assert [problem for editor in editors for problem in editor.broken_promises(owner)] == []


def _graph(random: Random) -> list[Link]:
    """Each asset from two a little before it, and every tenth also from one after it: circles, and circles in them."""
    links = {(NAMES[random.randrange(max(0, at - 40), at)], NAMES[at]) for at in range(1, len(NAMES)) for _ in range(2)}
    for _ in range(len(NAMES) // 10):
        start = random.randrange(60, len(NAMES))
        links.add((NAMES[start], NAMES[start - random.randrange(1, 60)]))
    return sorted(links)


@dataclass(slots=True)
class Editor:
    """One of several, each with assets and edges of its own, so that of each it knows what was said last."""

    stack: OwnStack
    token: str
    links: list[Link]
    number: int
    tags: dict[str, bool | None] = field(default_factory=dict)  # what must be there; None: nobody promised
    edges: dict[Link, bool | None] = field(default_factory=dict)
    acknowledged: int = 0

    def work(self, stop: threading.Event) -> None:
        random = Random(self.number)
        links = self.links[self.number :: WRITERS]
        # Near the beginning, whence a tag reaches much of the graph.
        names = NAMES[self.number : 300 : WRITERS]
        with _door(self.stack, self.token) as http:
            while not stop.wait(PACE_SECONDS):
                if random.random() < 0.5:
                    self._tag(http, random.choice(names), there=random.random() < 0.6)
                else:
                    self._link(http, random.choice(links), there=random.random() < 0.7)

    def _tag(self, http: httpx.Client, name: str, *, there: bool) -> None:
        place = f"/metadata/{ids.asset_id(TENANT, name)}/tags"
        self.tags[name] = None
        if there:
            done = self._did(http, "POST", place, {"tag": "PII"})
        else:
            done = self._did(http, "DELETE", f"{place}/PII", None)
        self.tags[name] = there if done else None

    def _link(self, http: httpx.Client, link: Link, *, there: bool) -> None:
        self.edges[link] = None
        done = self._did(http, "POST" if there else "DELETE", "/lineage", {"edges": [_edge(link)]})
        self.edges[link] = there if done else None

    def _did(self, http: httpx.Client, method: str, place: str, body: Any) -> bool:
        try:
            answer = http.request(method, place, json=body)
        except httpx.TransportError:
            return False
        # 404: of what is not read yet; 429 and 503: come back later.
        assert answer.status_code in {200, 202, 404, 429, 503}, answer.text
        done = answer.status_code in {200, 202}
        self.acknowledged += done
        return done

    def broken_promises(self, owner: psycopg.Connection) -> Iterator[str]:
        tagged: dict[str, bool] = dict(
            owner.execute("select qualified_name, 'pii' = any(stated) from assets where tenant_id = %s", [TENANT])
        )
        live: set[Link] = set(
            owner.execute(
                "select from_id::text, to_id::text from edges where tenant_id = %s and not is_deleted", [TENANT]
            )
        )
        for name, there in self.tags.items():
            if there is not None and tagged[name] is not there:
                yield f"{name} is {'' if tagged[name] else 'not '}tagged, against what was acknowledged last"
        for (start, end), there in self.edges.items():
            found = (ids.asset_id(TENANT, start), ids.asset_id(TENANT, end)) in live
            if there is not None and found is not there:
                yield f"{start} → {end} is {'' if found else 'not '}there, against what was acknowledged last"


def _door(stack: OwnStack, token: str) -> httpx.Client:
    return httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {token}"}, timeout=10)


def _ingest(http: httpx.Client, links: list[Link]) -> None:
    rows = [
        {"entity_type": "table", "attributes": {"name": name.rpartition(".")[2], "qualified_name": name}}
        for name in NAMES
    ]
    rows[0]["attributes"]["tags"] = rows[1]["attributes"]["tags"] = ["GDPR"]  # type: ignore[index]
    body = b"\n".join(map(orjson.dumps, rows))
    taken = http.post("/ingest-metadata/bulk", content=body, headers={"Content-Type": "application/x-ndjson"})
    assert taken.json()["accepted"] == len(NAMES), taken.text
    for at in range(0, len(links), 500):
        told = http.post("/lineage", json={"edges": [_edge(link) for link in links[at : at + 500]]})
        assert told.status_code in {200, 202}, told.text


def _edge(link: Link) -> dict[str, str]:
    return {"from": link[0], "to": link[1], "relationship_type": TYPE}


@contextmanager
def _at_work(editors: list[Editor]) -> Iterator[None]:
    stop = threading.Event()
    with ThreadPoolExecutor(len(editors), "editor") as pool:
        working = [pool.submit(editor.work, stop) for editor in editors]
        try:
            yield
        finally:
            stop.set()
    for editor in working:
        editor.result()


def _kill_in_the_midst(stack: OwnStack, killer: Killer, victim: str) -> None:
    """Kills it while the function that propagates is at work."""
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    while time.monotonic() < deadline:
        try:
            with psycopg.connect(stack.database, autocommit=True, connect_timeout=2) as connection:
                while time.monotonic() < deadline:
                    if connection.execute(_RUNS).rowcount > 0 and killer.kill((victim,)):
                        return
                    time.sleep(0.005)
        except psycopg.OperationalError:  # it is recovering from the last kill
            time.sleep(0.1)
    pytest.fail(f"nothing was propagated for {LONGEST_WAIT_SECONDS:.0f} s, so {victim} could not be killed meanwhile")
