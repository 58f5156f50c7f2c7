"""Which runs are merged, and that merging sorted rows equals merging their states."""

import threading
from random import Random
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.model.events import AssetEvent
from lily.model.states import AssetState, merge_states
from lily.pipeline.lake import compaction
from lily.pipeline.lake.compaction import SMALL_RUN, Compaction, due
from lily.pipeline.lake.row_merge import merge_sorted
from lily.settings import Lake
from lily.store.lake.rows import STATE_SCHEMA, read_states, states_to_batch
from tests.strategies import events


def test_runs_are_merged_once_there_are_enough_of_similar_size() -> None:
    assert due({1: 10, 2: 10, 3: 10}, 4) == []
    assert due({1: 10, 2: 10, 3: 10, 4: SMALL_RUN}, 4) == [[1, 2, 3, 4]]


def test_a_large_run_is_not_rewritten_because_of_small_ones() -> None:
    assert due({1: 1_000_000, 2: 10, 3: 10, 4: 10, 5: 10}, 4) == [[2, 3, 4, 5]]


def test_a_run_of_a_batch_that_may_be_written_again_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "sizes", lambda _: {1: 10, 2: 10, 3: 10})
    assert Compaction(cast("Any", None), Lake(), threading.Event(), lambda: 2)._finished() == {1: 10, 2: 10}


def test_each_row_is_rewritten_only_a_few_times() -> None:
    runs: dict[int, int] = {}
    rewritten, total = 0, 0
    for number in range(1, 2001):
        runs[number] = 10_000
        total += 10_000
        for chosen in due(runs, 6):
            size = sum(runs.pop(run) for run in chosen)
            runs[max(chosen)] = size
            rewritten += size
    assert rewritten < 6 * total
    assert len(runs) < 6 * 6


@given(st.lists(events(), min_size=1, max_size=20, unique_by=lambda event: event.id), st.randoms(), st.integers(1, 5))
def test_merging_sorted_rows_equals_merging_the_states(found: list[AssetEvent], random: Random, cut: int) -> None:
    pieces = [AssetState.of(event) for event in found]
    random.shuffle(pieces)
    table = pa.Table.from_batches([states_to_batch(pieces, 3)], schema=STATE_SCHEMA).sort_by(
        [("tenant", "ascending"), ("id", "ascending")]
    )
    rows = pa.Table.from_batches(merge_sorted(table.to_batches(max_chunksize=cut), 9), schema=STATE_SCHEMA)
    assert {state.id: state for state in read_states(rows)} == {
        state.id: state for state in merge_states(AssetState.of(event) for event in found).values()
    }
    assert [row["id"] for row in rows.to_pylist()] == list(dict.fromkeys(table.column("id").to_pylist()))
    assert set(rows.column("run").to_pylist()) == {9}


@given(st.lists(events(), min_size=1, max_size=8, unique_by=lambda event: event.id))
def test_a_merged_state_begins_with_its_first_event_and_ends_with_its_last(found: list[AssetEvent]) -> None:
    for state in merge_states(map(AssetState.of, found)).values():
        times = [event.time for event in found if event.asset_id == state.id]
        assert (state.first, state.last) == (min(times), max(times))
