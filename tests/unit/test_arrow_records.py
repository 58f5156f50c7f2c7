"""A micro-batch is split by bytes, so that large events do not exhaust the memory."""

import pyarrow as pa

from lily.pipeline.arrow_records import chunks_by_size


def batch(rows: int, size: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"value": [b"x" * size] * rows})


def test_batches_within_the_limit_stay_together() -> None:
    assert [len(chunk) for chunk in chunks_by_size([batch(10, 10), batch(10, 10)], 10_000)] == [2]


def test_chunks_are_split_between_batches() -> None:
    assert [len(chunk) for chunk in chunks_by_size([batch(1, 600)] * 5, 1_500)] == [2, 2, 1]


def test_a_batch_over_the_limit_is_a_chunk_of_its_own_and_empty_batches_are_dropped() -> None:
    assert [len(chunk) for chunk in chunks_by_size([batch(0, 0), batch(1, 5_000), batch(1, 10)], 1_000)] == [1, 1]
    assert list(chunks_by_size([], 1_000)) == []
