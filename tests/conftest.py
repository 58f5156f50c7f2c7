"""One real stack for all tests that need one, started once. Every test works in a tenant of its own."""

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from lily.store.postgres.access.administration import create_tenant, create_token
from lily.store.postgres.catalogue.writer import CatalogueWriter
from tests.shared_stack import SharedStack, Stack

# How long an example takes says nothing on a machine that runs a whole stack beside it. Mutants are noticed with 40.
settings.register_profile("lily", deadline=None, max_examples=60)
# With a deliberate fault it matters that a test fails, not what the smallest example is.
settings.register_profile(
    "mutants", deadline=None, database=None, max_examples=40, phases=[Phase.explicit, Phase.generate]
)
settings.load_profile(os.environ.get("HYPOTHESIS_TESTS_PROFILE", "lily"))

# PyIceberg evaluates manifests in threads that share one visitor with its state, so now and then a commit of the tests'
# lake did not find a file that it replaces. Lily itself does not use that.
os.environ["PYICEBERG_MAX_WORKERS"] = "1"

SHARED = pytest.StashKey[SharedStack]()
# What takes longest begins first; the rest fills the gaps. The first starts the stack, the next ones do not need it.
ORDER = (
    "stream/",
    "postgres/test_both_stores_stateful.py",
    "postgres/test_held_stateful.py",
    "postgres/test_pending_stateful.py",
    "contract/test_fuzz.py",
    "integration/",
    "acceptance/",
    "docs/test_examples.py",
    "contract/",
)


def pytest_configure(config: pytest.Config) -> None:
    """Where several processes run the tests (`-n`), they get the directory from the one that leads them."""
    known = getattr(config, "workerinput", {}).get("stack")
    config.stash[SHARED] = SharedStack(Path(known)) if known else SharedStack.make()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["stack"] = str(node.config.stash[SHARED].directory)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.stash[SHARED].end()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        place = item.path.relative_to(Path(__file__).parent).as_posix()
        return next((rank for rank, start in enumerate(ORDER) if place.startswith(start)), len(ORDER))

    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return InGroups(config, log)


class InGroups(LoadScopeScheduling):  # type: ignore[misc]
    """A file's tests stay in one process, and so do all that need Spark: they share a session."""

    def _split_scope(self, nodeid: str) -> str:
        return "tests/stream" if nodeid.startswith("tests/stream/") else nodeid.partition("::")[0]


@pytest.fixture(scope="session")
def stack(pytestconfig: pytest.Config) -> Stack:
    return pytestconfig.stash[SHARED].running()


@pytest.fixture(scope="session")
def make_tenant(stack: Stack) -> Callable[[], tuple[str, str]]:
    """A new tenant and an admin token of it."""

    def make() -> tuple[str, str]:
        name = f"t{uuid.uuid4().hex[:12]}"
        create_tenant(stack.database, name)
        return name, create_token(stack.database, name, ["admin"], user="tester")

    return make


@pytest.fixture(scope="session")
def catalogue_writer(stack: Stack) -> Iterator[CatalogueWriter]:
    """The store as the pipeline has it, for tests that feed it without the log."""
    store = CatalogueWriter(stack.database_of("lily_pipeline"))
    yield store
    store.close()
