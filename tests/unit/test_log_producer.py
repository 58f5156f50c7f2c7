"""What the log cannot take is refused: sending it again would not help."""

import asyncio

import pytest

from lily.brokers import Brokers
from lily.bus import topics
from lily.bus.producer import MAX_RECORD, LogProducer
from lily.model.errors import Refused


async def appended(value: bytes) -> None:
    producer = LogProducer(Brokers("127.0.0.1:9"))
    try:
        producer.append([(topics.LINEAGE_INTAKE, b"t/j", value)])
    finally:
        await producer.close()


def test_a_record_that_is_too_large_is_refused() -> None:
    with pytest.raises(Refused, match=r"TOO_LARGE: the event takes 4,194,305 bytes in the log"):
        asyncio.run(appended(bytes(MAX_RECORD + 1)))
