"""The story of `lily demo`, step by step, against the stack that all tests share."""

from collections.abc import Callable, Iterator

import pytest

from lily.cli.demo.columns import CHAPTER
from lily.cli.demo.lineage import LINEAGE
from lily.cli.demo.owners import OWNERS
from lily.cli.demo.scene import Scene, Step
from lily.cli.demo.stage import lag_of
from lily.cli.demo.story import STORY
from lily.client import Lily
from tests.shared_stack import Stack


@pytest.fixture(scope="module")
def scene(stack: Stack, make_tenant: Callable[[], tuple[str, str]]) -> Iterator[Scene]:
    _, token = make_tenant()
    with Lily(stack.url, token) as lily:
        yield Scene(lily, lambda: lag_of(stack.data_dir))


@pytest.mark.parametrize("step", [*STORY, *CHAPTER, *LINEAGE, *OWNERS], ids=lambda step: step.name)
def test_the_demo_can(step: Step, scene: Scene) -> None:
    told = step.play(scene)
    assert told.sentence
    assert told.seconds > 0


def test_the_demo_can_be_played_again_on_the_same_data(scene: Scene) -> None:
    for step in (*STORY, *LINEAGE, *OWNERS):
        step.play(scene)
