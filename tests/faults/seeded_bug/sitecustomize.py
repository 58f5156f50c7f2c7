"""A bug on purpose: the position is committed before the merge instead of with it, the classic at-most-once mistake.

Python loads a module of this name by itself where the path leads to it, so only the processes of a stack that was
started with this folder on PYTHONPATH have the bug. No switch for it exists in Lily.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from lily.model.records import Record, Refusal
from lily.store.postgres.catalogue.writer import BatchCounts, CatalogueWriter, StoredEvent
from lily.store.postgres.queries import query

GAP_SECONDS = 0.5  # between the two commits: what dies here has lost its batch

_apply = CatalogueWriter.apply


def apply_at_most_once(
    self: CatalogueWriter,
    topic: str,
    next_offsets: dict[int, int],
    events: Sequence[tuple[Record, StoredEvent]],
    refusals: Sequence[Refusal],
) -> BatchCounts:
    positions = [(topic, partition, offset) for partition, offset in next_offsets.items()]
    with self._connection.transaction():
        self._connection.cursor().executemany(query("progress/advance"), positions)
    if "LILY_DATA_DIR" in os.environ:
        Path(os.environ["LILY_DATA_DIR"], f"seeded-bug-{os.getpid()}").touch()
    time.sleep(GAP_SECONDS)
    return _apply(self, topic, next_offsets, events, refusals)


CatalogueWriter.apply = apply_at_most_once  # type: ignore[method-assign]
