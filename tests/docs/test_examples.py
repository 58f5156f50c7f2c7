"""Every code block of README.md and docs/ runs, in order, against the stack; those that cannot say why."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, Block, blocks_of, name_of
from tests.docs.page_database import variables_of_database
from tests.docs.page_session import PageSession
from tests.enforcers.target import forget_targets
from tests.shared_stack import Stack

# How many blocks of a page no test can run. Each gives its reason in its fence; a new one needs an entry here.
NOT_RUN = {
    "CONTRIBUTING.md": 2,
    "README.md": 3,
    "docs/benchmarks.md": 1,
    "docs/capacity.md": 1,
    "docs/how-to/airflow.md": 3,
    "docs/how-to/dbt.md": 3,
    "docs/how-to/enforce-anywhere.md": 1,
    "docs/how-to/enforce-in-warehouses.md": 2,
    "docs/how-to/receive-incidents.md": 1,
    "docs/how-to/secure-a-deployment.md": 6,
    "docs/how-to/sign-in-with-openid-connect.md": 1,
    "docs/how-to/spark.md": 1,
    "docs/lineage.md": 1,
    "docs/operations.md": 2,
    "docs/testing.md": 1,
}

# What a newcomer reads first, and what takes seconds. Each command of the other pages is a process.
QUICK = {
    "README.md",
    "docs/how-to/audit.md",
    "docs/how-to/policies.md",
    "docs/lineage.md",
    "docs/lineage-from-the-world.md",
    "docs/operations.md",
}

_RUNS = re.compile(r"^ *```(?!text)[a-z]+(?!.*not-run)", re.MULTILINE)
WITH_EXAMPLES = [page for page in PAGES if _RUNS.search(page.read_text())]


@pytest.fixture
def session(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]], tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[PageSession]:
    """README.md is read with what `lily up` prints, every other page in a tenant of its own."""
    address = {"URL": stack.url, "GRPC": stack.grpc}
    if name_of(request.param) == "README.md":
        tenant, token, variables = "", stack.token, {}
    else:
        tenant, token = make_tenant()
        variables = {"LILY_URL": stack.url, "LILY_TOKEN": token}
    with variables_of_database(name_of(request.param), tmp_path) as of_database:
        reader = PageSession(
            stack, tmp_path, address | {"TOKEN": token, "TENANT": tenant} | variables | of_database, token
        )
        yield reader
        reader.close()
    if tenant:  # a page that failed midway may have left a target, whose database is gone
        forget_targets(stack.database, tenant)


def _pages(*, quick: bool) -> pytest.MarkDecorator:
    pages = [page for page in WITH_EXAMPLES if (name_of(page) in QUICK) == quick]
    return pytest.mark.parametrize(
        ("session", "page"), [(page, page) for page in pages], ids=map(name_of, pages), indirect=["session"]
    )


@_pages(quick=True)
def test_the_examples_of_a_page_run_in_order(session: PageSession, page: Path) -> None:
    for block in blocks_of(page):
        session.run(block)


@pytest.mark.campaign
@_pages(quick=False)
def test_the_examples_of_a_page_with_many_commands_run_in_order(session: PageSession, page: Path) -> None:
    for block in blocks_of(page):
        session.run(block)


def test_blocks_that_do_not_run_are_few_and_known() -> None:
    marked: list[Block] = [block for page in PAGES for block in blocks_of(page) if block.not_run]
    listing = "\n".join(f"{block}: {block.not_run}" for block in marked)
    assert Counter(block.page for block in marked) == NOT_RUN, f"These blocks do not run:\n{listing}"
