"""A tenant whose usage is counted and judged."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.postgres.quality import Watched


@pytest.fixture
def watched(migrated: Migrated, make_world: Callable[[], World]) -> Iterator[Watched]:
    with closing(Watched(migrated, make_world())) as found:
        yield found
