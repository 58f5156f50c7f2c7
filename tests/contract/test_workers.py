"""`LILY_API__WORKERS`: several processes behind one port look like one, and one that dies loses nothing."""

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import httpx
import orjson
import psutil  # type: ignore[import-untyped]
import pytest

from tests.contract.door import WAIT, Door, client, table
from tests.contract.test_grpc import Lineage
from tests.contract.test_notifications import listen, next_message
from tests.extra_api import is_ready, surroundings_of, until
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # it starts, kills and stops `lily api` again and again
COUNTED = 'lily_http_request_seconds_count{method="GET",route="/schemas",status="200"}'


@dataclass(frozen=True)
class Api:
    """`lily api` beside the shared stack."""

    process: subprocess.Popen[bytes]
    port: int
    grpc_port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def workers(self) -> list[psutil.Process]:
        try:
            children = psutil.Process(self.process.pid).children()
        except psutil.NoSuchProcess:
            return []
        return [child for child in children if _is_worker(child)]

    def get(self, path: str) -> httpx.Response:
        """Over a connection of its own: the kernel chooses the worker."""
        return httpx.get(f"{self.url}{path}", headers={"Authorization": f"Bearer {self.token}"}, timeout=30)

    def worker_of(self, answer: httpx.Response) -> str:
        """Which worker made it: a correlation id begins with its process."""
        return answer.headers["x-correlation-id"].rpartition("-")[0]

    def counted(self) -> float:
        found = re.search(rf"^{re.escape(COUNTED)} (\S+)$", self.get("/metrics").text, re.MULTILINE)
        return float(found[1]) if found else 0.0


def _is_worker(process: psutil.Process) -> bool:
    """Not the resource tracker of Python's multiprocessing, and not one that has just died."""
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return False


def environment(stack: Stack, workers: int, **more: str) -> dict[str, str]:
    return surroundings_of(stack, LILY_API__WORKERS=str(workers), **more)


@contextmanager
def running(surroundings: dict[str, str], token: str, log: Path) -> Iterator[Api]:
    """Whatever happens inside, every process of the API has ended afterwards."""
    command = [sys.executable, "-m", "lily", "api"]
    count = f"lily_api_workers {surroundings['LILY_API__WORKERS']}.0"
    with log.open("wb") as output, subprocess.Popen(command, env=surroundings, stderr=output) as process:
        api = Api(process, int(surroundings["LILY_PORT"]), int(surroundings["LILY_GRPC_PORT"]), token)
        workers: list[psutil.Process] = []
        try:
            until(lambda: is_ready(api.url) or process.poll() is not None)
            assert process.poll() is None, log.read_text()
            until(lambda: count in api.get("/metrics").text)
            workers = api.workers()
            yield api
        finally:
            _end(process, [*workers, *api.workers()])


def _end(process: subprocess.Popen[bytes], workers: list[psutil.Process]) -> None:
    """The workers are listed before: once their parent is gone, nothing leads to them."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for worker in workers:
        with suppress(psutil.NoSuchProcess):
            worker.kill()
    psutil.wait_procs(workers, timeout=10)


@pytest.fixture(scope="module")
def api(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    log = tmp_path_factory.mktemp("workers") / "api.log"
    with running(environment(stack, 2), stack.token, log) as api:
        yield api


@pytest.fixture
def worker_door(api: Api, door: Door) -> Iterator[Door]:
    """The door of a test's tenant, at the two workers."""
    stack = replace(door.stack, url=api.url, grpc=f"127.0.0.1:{api.grpc_port}")
    with client(stack, door.token) as http:
        yield Door(stack, door.tenant, door.token, http)


def test_the_workers_share_the_port(api: Api) -> None:
    seen: set[str] = set()
    while len(seen) < 2:
        seen.add(api.worker_of(api.get("/schemas")))


def test_metrics_add_up_over_all_workers_and_never_jump(api: Api) -> None:
    began = api.counted()
    for number in range(1, 21):
        api.get("/schemas")
        assert api.counted() == began + number
    text = api.get("/metrics").text
    described = [line.split(" ")[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(described) == len(set(described))
    assert "# HELP lily_events_accepted_total Events durably in the log" in text


def test_what_one_worker_wrote_the_other_reads(worker_door: Door, api: Api) -> None:
    asset_id = worker_door.ingest("shop.orders", tags=["PII"])
    seen: set[str] = set()
    while len(seen) < 2:
        with client(worker_door.stack, worker_door.token) as http:
            answer = http.get(f"/metadata/{asset_id}")
        assert answer.json()["attributes"]["tags"] == ["PII"]
        seen.add(api.worker_of(answer))


def test_any_worker_serves_the_web_socket_and_counts_the_connections_of_all(worker_door: Door, api: Api) -> None:
    with ExitStack() as stack:
        sockets = [stack.enter_context(listen(worker_door)) for _ in range(6)]
        until(lambda: "lily_websocket_connections 6.0" in api.get("/metrics").text)
        asset_id = worker_door.ingest("shop.orders")
        assert {next_message(each)["metadata_id"] for each in sockets} == {asset_id}


def test_a_worker_that_is_killed_is_replaced_and_no_counter_goes_down(worker_door: Door, api: Api) -> None:
    worker_door.ingest("shop.orders")
    for _ in range(10):
        api.get("/schemas")
    counted = api.counted()
    for victim in api.workers():  # both in turn: one of them serves gRPC
        victim.kill()
        until(lambda: "lily_api_workers 2.0" in api.get("/metrics").text and len(api.workers()) == 2)
        assert victim.pid not in {worker.pid for worker in api.workers()}
        assert api.counted() >= counted
        with grpc.insecure_channel(worker_door.stack.grpc) as channel:
            grpc.channel_ready_future(channel).result(timeout=30)
            Lineage(channel, worker_door.token).ingest("shop.orders", "shop.reports")
    assert worker_door.read("shop.orders")


@contextmanager
def half_sent(api: Api, token: str, body: bytes) -> Iterator[socket.socket]:
    """A bulk request of which the second half is not sent yet."""
    with socket.create_connection(("127.0.0.1", api.port), timeout=30) as connection:
        head = f"POST /ingest-metadata/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
        head += f"Content-Type: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body[: len(body) // 2])
        yield connection


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_lets_running_requests_finish(stack: Stack, door: Door, tmp_path: Path, workers: int) -> None:
    body = b"\n".join(orjson.dumps(table(f"shop.t{number}")) for number in range(100))
    with running(environment(stack, workers), stack.token, tmp_path / "log") as api:
        with half_sent(api, door.token, body) as connection:
            time.sleep(0.5)  # the request has begun
            api.process.send_signal(signal.SIGTERM)
            time.sleep(1.5)  # the signal has reached the workers
            connection.sendall(body[len(body) // 2 :])
            response = b"".join(iter(lambda: connection.recv(65_536), b""))
        assert api.process.wait(20) == 0
    assert response.startswith(b"HTTP/1.1 202")
    assert orjson.loads(response.partition(b"\r\n\r\n")[2])["accepted"] == 100


def test_workers_do_not_outlive_the_process_that_watches_them(stack: Stack, tmp_path: Path) -> None:
    with running(environment(stack, 2), stack.token, tmp_path / "log") as api:
        workers = api.workers()
        assert len(workers) == 2
        api.process.kill()
        _, alive = psutil.wait_procs(workers, timeout=20)
        assert not alive


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        ("taken", "cannot listen on"),
        ("grpc taken", "LILY_GRPC_PORT"),
        ("owner", "Use the role lily_api in LILY_DATABASE_URL"),
        ("away", "metadata store"),
    ],
)
def test_a_start_that_fails_reports_why(stack: Stack, workers: int, trouble: str, message: str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        troubles = {
            "taken": {"LILY_PORT": port},
            "grpc taken": {"LILY_GRPC_PORT": port},
            "owner": {"LILY_DATABASE_URL": stack.database},
            "away": {"LILY_DATABASE_URL": "postgresql://lily_api:x@127.0.0.1:9/lily"},
        }
        done = subprocess.run(
            [sys.executable, "-m", "lily", "api"],
            env=environment(stack, workers, **troubles[trouble]),
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_write_may_wait_on_any_worker(worker_door: Door) -> None:
    for number in range(6):
        with client(worker_door.stack, worker_door.token) as http:
            answer = http.post("/ingest-metadata", json=table(f"shop.t{number}", tags=["PII"]), headers=WAIT)
        assert answer.status_code == 200, answer.text


def test_a_change_of_policies_takes_effect_in_every_worker(api: Api, door: Door, worker_door: Door) -> None:
    door.ingest("shop.orders")
    headers = {"Authorization": f"Bearer {door.token}"}

    def workers_that_decide(effect: str) -> set[str]:
        """Over connections of their own, so that the kernel chooses the worker; by each worker's last decision."""
        last: dict[str, str] = {}
        for _ in range(20):
            body = {"checks": [{"principal": "ann", "action": "READ", "asset_id": "shop.orders"}]}
            answer = httpx.post(f"{api.url}/policy/check", json=body, headers=headers, timeout=30)
            last[api.worker_of(answer)] = answer.json()["decisions"][0]["effect"]
        return {worker for worker, found in last.items() if found == effect}

    until(lambda: len(workers_that_decide("deny")) == 2)
    allow = {"id": "p", "name": "p", "subjects": [{"user": "ann"}], "resources": [{"asset": "*"}]}
    assert worker_door.http.post("/policies", json=allow | {"actions": ["READ"], "effect": "allow"}).status_code == 201
    until(lambda: len(workers_that_decide("allow")) == 2)
    assert worker_door.http.delete("/policies/p").status_code == 200
    until(lambda: len(workers_that_decide("deny")) == 2)
