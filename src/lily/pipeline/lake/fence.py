"""The fence of the lake: a batch is committed only right after the one that it follows.

The lock in PostgreSQL lets one driver write. A driver that lost its connection, and with it the lock, may be about to
commit when its successor starts. Iceberg repeats an append that conflicts with another one, so it would succeed, and
the events of the batch would be in the lake twice. Iceberg calls this validator with the ancestors of each attempt.
"""

from typing import Any, ClassVar

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started

from lily.store.lake import tables

_REFUSED = "org.apache.iceberg.exceptions.ValidationException"


class Follows:
    """Implements a Java interface. Accepts an append if the newest batch among the ancestors is the given one. A table
    without batches has no other writer to exclude, or was changed by something other than Lily."""

    def __init__(self, batch: int) -> None:
        self._batch = batch

    def validate(self, ancestors: Any) -> bool:
        snapshots = ancestors.iterator()  # the newest first
        while snapshots.hasNext():
            number = snapshots.next().summary().get(tables.BATCH_PROPERTY)
            if number is not None:
                return int(number) == self._batch
        return True

    def errorMessage(self) -> str:  # noqa: N802 - of the Java interface
        return f"the newest batch is not {self._batch}"

    class Java:
        implements: ClassVar = ["org.apache.iceberg.SnapshotAncestryValidator"]


def accept_calls() -> None:
    """Lets Java call Python in this process. Idempotent; a query with `foreachBatch` does it too."""
    ensure_callback_server_started(SparkContext._gateway)  # noqa: SLF001 - there is no public way


def is_refused(error: Py4JJavaError) -> bool:
    """Whether a validator refused the commit."""
    return str(error.java_exception.getClass().getName()) == _REFUSED
