"""How failures become codes of gRPC, how long a call may wait, and that the generated code is up to date."""

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status

from lily.api.grpc.calls import GrpcCall
from lily.api.grpc.failures import MAX_DETAILS_BYTES, MAX_MESSAGE_BYTES, failure_for
from lily.api.grpc.generated.lineage_pb2 import Metadata
from lily.api.grpc.server import served
from lily.api.grpc.updates import events_of
from lily.api.http.errors import Declined, forbidden, not_found, too_large, unauthenticated
from lily.api.metrics import ApiMetrics
from lily.bus.producer import LogFull, LogUnavailable
from lily.model.access import Principal
from lily.model.errors import Problem, Refused, Terminal
from lily.settings import Settings

Code = grpc.StatusCode
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Refused(Problem("INVALID_VALUE", "so", "it")), Code.INVALID_ARGUMENT),
        (unauthenticated(), Code.UNAUTHENTICATED),
        (forbidden("so"), Code.PERMISSION_DENIED),
        (not_found("it"), Code.NOT_FOUND),
        (too_large(5), Code.RESOURCE_EXHAUSTED),
        (Declined(422, Problem("PROTECTED", "so")), Code.FAILED_PRECONDITION),
        (LogFull("later"), Code.RESOURCE_EXHAUSTED),
        (LogUnavailable("later"), Code.UNAVAILABLE),
        (Terminal("so"), Code.INTERNAL),
        (ValueError("a secret"), Code.INTERNAL),
    ],
)
def test_each_failure_has_its_code(error: Exception, code: grpc.StatusCode) -> None:
    assert failure_for(error).code is code


def test_what_was_not_raised_on_purpose_tells_only_where_to_look_it_up() -> None:
    failure = failure_for(ValueError("a secret"), "mine")
    assert "mine" in failure.message
    assert "secret" not in failure.message
    assert failure.trailing == ()


def test_the_problems_of_bad_input_are_in_the_message_and_in_the_details() -> None:
    failure = failure_for(Refused(Problem("A", "first", "x"), Problem("B", "second", "y")))
    assert failure.message == "A: first (x); B: second (y)"
    assert violations(failure.trailing) == [("A", "first", "x"), ("B", "second", "y")]


def test_however_much_is_wrong_the_answer_fits_into_metadata() -> None:
    failure = failure_for(Refused(*(Problem("BAD", "ü" * 3_000, f"\x00{number}") for number in range(1_000))))
    assert len(failure.message.encode()) <= MAX_MESSAGE_BYTES
    assert violations(failure.trailing)
    assert len(failure.trailing[0][1]) <= MAX_MESSAGE_BYTES + MAX_DETAILS_BYTES + 200


def violations(trailing: tuple[tuple[str, bytes], ...]) -> list[tuple[str, str, str]]:
    ((name, value),) = trailing
    assert name == "grpc-status-details-bin"
    found = BadRequest()
    assert Status.FromString(value).details[0].Unpack(found)
    return [(one.reason, one.description, one.field) for one in found.field_violations]


def test_broken_json_names_its_field() -> None:
    asset: Any = SimpleNamespace(view={"entity_type": "table", "is_deleted": False})
    with pytest.raises(Refused) as refused:
        events_of(cast("Any", None), asset, Metadata(metadata="{broken"))
    problem = refused.value.problems[0]
    assert problem.description.startswith("updated_metadata.metadata is not valid JSON: ")
    assert problem.entity == "metadata"


def waiting(left: float | None, **headers: str) -> int | None:
    services: Any = SimpleNamespace(settings=Settings())
    context: Any = SimpleNamespace(time_remaining=lambda: left)
    return GrpcCall(services, Principal("id", "t", "u", frozenset()), "c", context, headers).wait()


def test_a_call_waits_as_long_as_it_asks_for_and_its_deadline_allows() -> None:
    assert waiting(None) is None
    assert waiting(None, **{"lily-wait": "5"}) == 5
    assert waiting(None, **{"lily-wait": "5000"}) == Settings().limits.wait_seconds
    assert waiting(3.4, **{"lily-wait": "5"}) == 2
    assert waiting(0.1, **{"lily-wait": "5"}) == 0
    for nonsense in ("soon", "-1", "1.5", "", "9" * 20, "٣"):
        with pytest.raises(Refused, match="whole seconds"):
            waiting(None, **{"lily-wait": nonsense})


def test_a_port_that_is_taken_says_how_to_choose_another() -> None:
    async def story() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            settings = Settings(grpc_port=taken.getsockname()[1])
            services: Any = SimpleNamespace(settings=settings, metrics=ApiMetrics())
            with pytest.raises(Terminal, match="LILY_GRPC_PORT"):
                await served(services).__aenter__()

    asyncio.run(story())


def test_the_generated_code_is_what_the_contract_says(tmp_path: Path) -> None:
    place = "lily/api/grpc/generated"
    outputs = [f"--{kind}_out={tmp_path}" for kind in ("python", "pyi", "grpc_python")]
    contracts = [f"{place}/{path.name}" for path in (ROOT / "proto/lily").glob("*.proto")]
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", f"{place}={ROOT / 'proto/lily'}", *outputs, *contracts]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    made = sorted((tmp_path / place).iterdir())
    assert len(made) == 3 * len(contracts)
    for path in made:
        assert path.read_text() == (ROOT / "src" / place / path.name).read_text(), "run: make proto"
