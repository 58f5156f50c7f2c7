"""`pip install lily-metadata` without an extra: the client works, and nothing of the stack comes with it."""

import json
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from lily import __version__
from tests.packaging.environments import Environment, build_wheel, install
from tests.packaging.requirements import closure
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # it builds the wheel and installs it into an environment of its own

STACK = {"pyspark", "py4j", "confluent_kafka", "psycopg", "fastapi", "uvicorn", "grpc", "pydantic", "pyarrow", "typer"}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    directory = tmp_path_factory.mktemp("bare")
    return install(str(build_wheel(directory / "wheel")), directory / "environment")


def test_the_client_brings_nothing_of_the_stack(bare: Environment) -> None:
    present = {canonicalize_name(found.name) for found in distributions(path=[str(bare.packages)])}
    assert present == {"lily-metadata", *closure(["httpx", "orjson", "websockets"])}
    assert not present & {"pyspark", "confluent-kafka", "psycopg", "fastapi", "pydantic", "grpcio", "typer"}


def test_both_clients_work_against_a_running_stack(
    bare: Environment, stack: Stack, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    _, token = make_tenant()
    script = Path(__file__).with_name("bare_session.py")
    done = bare.run("python", str(script), env={"LILY_URL": stack.url, "LILY_TOKEN": token})
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert not STACK & set(seen.pop("imported"))
    assert seen == {
        "readable": True,
        "heard": "bare.public.orders",
        "tags": ["PII"],
        "accepted": 3,
        "found": ["bare.public.orders"],
        "missing": 404,
    }


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ([], "embedded"),
        (["--help"], "embedded"),
        (["up"], "embedded"),
        (["api"], "server"),
        (["pipeline"], "pipeline"),
        (["token", "list"], "core"),
        (["ingest"], "core"),
    ],
)
def test_the_command_says_which_extra_to_install(bare: Environment, words: list[str], extra: str) -> None:
    done = bare.run("lily", *words)
    assert done.returncode == 1
    assert f"pip install 'lily-metadata[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_needs_no_extra(bare: Environment) -> None:
    done = bare.run("lily", "--version")
    assert (done.returncode, done.stdout) == (0, f"lily {__version__}\n")


def test_type_checkers_find_its_types_and_lawyers_its_licence(bare: Environment) -> None:
    assert (bare.packages / "lily" / "py.typed").exists()
    assert "Apache License" in next(bare.packages.glob("lily_metadata-*.dist-info/licenses/LICENSE")).read_text()
