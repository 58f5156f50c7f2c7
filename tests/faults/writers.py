"""The load: callers of the API and producers to the log, at a steady pace, who keep account of every answer."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import httpx
from confluent_kafka import KafkaError, Message, Producer

from lily.bus import topics
from lily.bus.topics import key_of
from tests.faults.journal import Journal, Outcome, Write, new_mark
from tests.faults.phrases import Speaker, stated

BULK_ROWS = 60
NDJSON = {"Content-Type": "application/x-ndjson"}
ANSWER_SECONDS = 40.0  # longer than the door waits for the log, so it is always the door that gives up
AGAIN_SECONDS = 0.3
DELIVERY_SECONDS = 30
LATER = frozenset({429, 503})

Step = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Tenant:
    name: str
    token: str


class Caller:
    """One caller of the API. It repeats what was not taken, each time as a new attempt with a mark of its own."""

    def __init__(self, url: str, tenant: Tenant, speaker: Speaker, journal: Journal, stop: threading.Event) -> None:
        self._tenant, self._speaker, self._journal, self._stop = tenant, speaker, journal, stop
        headers = {"Authorization": f"Bearer {tenant.token}"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=ANSWER_SECONDS, trust_env=False)

    def close(self) -> None:
        self._client.close()

    def single(self) -> None:
        body = self._speaker.body()
        self._insist("single", "POST", "/ingest-metadata", [stated(body)], body.get("time"), json=body)

    def bulk(self) -> None:
        bodies = [self._speaker.body() for _ in range(BULK_ROWS)]
        content = "".join(json.dumps(body) + "\n" for body in bodies)
        said = [stated(body) for body in bodies]
        self._insist("bulk", "POST", "/ingest-metadata/bulk", said, None, content=content, headers=NDJSON)

    def edit(self) -> None:
        edit = self._speaker.edit()
        self._insist("edit", edit.method, edit.path, [edit.data], None, json=edit.body)

    def _insist(
        self,
        kind: str,
        method: str,
        path: str,
        said: Sequence[dict[str, Any]],
        time: str | None,
        *,
        json: Any = None,
        content: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        outcome: Outcome = "uncertain"
        while outcome == "uncertain" and not self._stop.is_set():
            mark = new_mark()
            request = self._client.build_request(
                method, path, json=json, content=content, headers={"X-Correlation-Id": mark, **(headers or {})}
            )
            outcome, answer = self._attempt(request, len(said))
            self._journal.put_down(Write(kind, self._tenant.name, mark, tuple(said), outcome, answer, time))
            if outcome == "uncertain":
                self._stop.wait(AGAIN_SECONDS)

    def _attempt(self, request: httpx.Request, events: int) -> tuple[Outcome, str]:
        try:
            answer = self._client.send(request)
        except httpx.TransportError as error:
            return "uncertain", type(error).__name__
        if answer.is_success:
            # A bulk answer counts only as a whole: it does not say which rows it means.
            taken = answer.json().get("accepted", 1)
            return ("acknowledged" if taken == events else "uncertain"), str(answer.status_code)
        refused = answer.is_client_error and answer.status_code not in LATER
        return ("refused" if refused else "uncertain"), str(answer.status_code)


class Appender:
    """A producer to the log itself. What it writes counts as acknowledged when Kafka has confirmed it."""

    def __init__(self, kafka: Mapping[str, Any], speaker: Speaker, journal: Journal) -> None:
        self._speaker, self._journal = speaker, journal
        self._producer = Producer(
            {
                **kafka,
                "enable.idempotence": True,
                "acks": "all",
                "partitioner": "murmur2_random",
                "delivery.timeout.ms": DELIVERY_SECONDS * 1000,
                "queue.buffering.max.messages": 20_000,
                "log_level": 2,
            }
        )

    def close(self) -> None:
        """Returns when every record is confirmed or given up."""
        self._producer.flush(DELIVERY_SECONDS + 5)

    def good(self) -> None:
        event = self._speaker.event(new_mark())
        said = (event.statement.as_data(),)
        write = Write("direct", event.tenant, event.correlation, said, "acknowledged", "confirmed", event.time)
        self._append(write, key_of(event.tenant, event.asset_id), json.dumps(event.as_cloudevent()).encode())

    def spoiled(self) -> None:
        mark = new_mark()
        record = self._speaker.spoiled(mark)
        write = Write("spoiled", self._speaker.tenant, mark, (), "acknowledged", "confirmed", cause=record.cause)
        self._append(write, record.key, record.value, self._speaker.random.choice([topics.ASSETS, topics.ASSETS_BULK]))

    def _append(self, write: Write, key: bytes, value: bytes, topic: str = topics.ASSETS) -> None:
        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is None:
                self._journal.put_down(write)
            else:
                self._journal.put_down(replace(write, outcome="uncertain", answer=error.name()))

        try:
            self._producer.produce(topic, value, key, on_delivery=delivered)
        except BufferError:  # Kafka is down for long: this one was never handed over
            return
        finally:
            self._producer.poll(0)


class Load:
    """Writers that run until the load is lifted."""

    def __init__(self, kafka: Mapping[str, Any], url: str, journal: Journal, random: Random) -> None:
        self._kafka, self._url, self._journal, self._random = kafka, url, journal, random
        self._stop = threading.Event()
        self._writers: list[tuple[Step, float]] = []
        self._closing: list[Step] = []

    def add_callers(self, tenant: Tenant) -> None:
        """One that states single assets, one that states many, and two people who edit."""
        for names, steps in ((120, ("single",)), (120, ("edit", "edit")), (50_000, ("bulk",))):
            for step in steps:
                speaker = Speaker(self._new_random(), tenant.name, names)
                caller = Caller(self._url, tenant, speaker, self._journal, self._stop)
                pace = {"single": 0.05, "edit": 0.12, "bulk": 0.7}[step]
                self._add({"single": caller.single, "edit": caller.edit, "bulk": caller.bulk}[step], pace, caller.close)

    def add_appender(self, tenant: Tenant, *, spoils: bool, names: int, pace: float) -> None:
        appender = Appender(self._kafka, Speaker(self._new_random(), tenant.name, names), self._journal)
        self._add(appender.spoiled if spoils else appender.good, pace, appender.close)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """The load, for as long as the block runs. A writer that fails makes it fail."""
        with ThreadPoolExecutor(len(self._writers), "writer") as pool:
            running: list[Future[None]] = [pool.submit(self._repeat, *writer) for writer in self._writers]
            try:
                yield
            finally:
                self._stop.set()
                wait(running)
                for close in self._closing:
                    close()
        for writer in running:
            writer.result()

    def _repeat(self, step: Step, pace: float) -> None:
        random = Random(pace)
        while not self._stop.wait(random.uniform(0.5, 1.5) * pace):
            step()

    def _add(self, step: Step, pace: float, close: Step) -> None:
        self._writers.append((step, pace))
        self._closing.append(close)

    def _new_random(self) -> Random:
        return Random(self._random.getrandbits(64))
