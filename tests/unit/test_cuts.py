"""A micro-batch is cut into transactions by bytes, so that large events do not fill the memory."""

import pyarrow as pa

from lily.pipeline.arrow_records import cuts


def batch(rows: int, size: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"value": [b"x" * size] * rows})


def test_what_fits_stays_together() -> None:
    assert [len(cut) for cut in cuts([batch(10, 10), batch(10, 10)], 10_000)] == [2]


def test_what_does_not_fit_is_cut_between_batches() -> None:
    assert [len(cut) for cut in cuts([batch(1, 600)] * 5, 1_500)] == [2, 2, 1]


def test_a_single_batch_over_the_limit_goes_alone_and_an_empty_one_nowhere() -> None:
    assert [len(cut) for cut in cuts([batch(0, 0), batch(1, 5_000), batch(1, 10)], 1_000)] == [1, 1]
    assert list(cuts([], 1_000)) == []
