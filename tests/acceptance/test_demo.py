"""The steps of `lily demo`, against the stack that all tests share."""

from collections.abc import Callable, Iterator

import pytest

from lily.cli.demo.attribute_rules import ATTRIBUTE_RULES
from lily.cli.demo.catalogue import CATALOGUE
from lily.cli.demo.enforcement import ENFORCEMENT
from lily.cli.demo.incidents import INCIDENTS
from lily.cli.demo.large_estate import LARGE_ESTATE
from lily.cli.demo.propagation import PROPAGATION
from lily.cli.demo.slack import slack_receiver
from lily.cli.demo.stack import DemoStack, read_lag
from lily.cli.demo.step import DemoContext, Step
from lily.client import Lily
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # it plays the whole demo


@pytest.fixture(scope="module")
def demo(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[DemoContext]:
    _, token = make_tenant()
    with Lily(stack.url, token) as lily, slack_receiver() as slack:
        running = DemoStack(stack.url, token, stack.data_dir, 0.0)
        yield DemoContext(running, lily, slack, lambda: read_lag(stack.data_dir))


@pytest.mark.parametrize(
    "step",
    [*CATALOGUE, *LARGE_ESTATE, *PROPAGATION, *ATTRIBUTE_RULES, *ENFORCEMENT, *INCIDENTS],
    ids=lambda step: step.name,
)
def test_the_demo_can(step: Step, demo: DemoContext) -> None:
    result = step.run(demo)
    assert result.text
    assert result.seconds > 0


@pytest.mark.campaign
def test_the_demo_can_run_again_on_the_same_data(demo: DemoContext) -> None:
    for _ in range(2):
        for step in (*CATALOGUE, *PROPAGATION, *ATTRIBUTE_RULES, *ENFORCEMENT, *INCIDENTS):
            step.run(demo)
