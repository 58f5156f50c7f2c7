"""Drives `bare_lake.py`: prepares the rows as Parquet files, has them merged, and says how long the merge took."""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.bare_lake import CORES, FIELDS
from bench.columns import ABOUT, DATA_TYPE, TYPE
from bench.events import SOURCE, TENANT, Asset
from bench.findings import BenchError
from lily.model import clock, ids

END_SECONDS = 30
_SCHEMA = pa.schema([(name, pa.string()) for name in FIELDS])


class MergeInto:
    """The bare table in a directory of its own. `close` leaves nothing behind."""

    def __init__(self) -> None:
        self._directory = Path(tempfile.mkdtemp(prefix="lily-bench-bare-"))
        self._said = self._directory / "stderr"
        with self._said.open("wb") as said:
            self._spark = subprocess.Popen(
                [sys.executable, "-m", "bench.bare_lake", str(self._directory)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True,
            )  # fmt: skip
        try:
            self._answer("ready")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        assert self._spark.stdin
        self._spark.stdin.close()  # which ends it
        try:
            self._spark.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._spark.kill()
            self._spark.wait()
        shutil.rmtree(self._directory, ignore_errors=True)

    def prepare(self, columns: Sequence[Asset]) -> Path:
        """A new statement about each column, in as many files as there are tasks to read them."""
        rows = Path(tempfile.mkdtemp(prefix="rows-", dir=self._directory))
        table = pa.Table.from_arrays([pa.array(values) for values in zip(*_fresh_rows(columns), strict=True)], FIELDS)
        share = -(-len(columns) // CORES)
        for number in range(CORES):
            pq.write_table(table.slice(number * share, share).cast(_SCHEMA), rows / f"part-{number}.parquet")
        return rows

    def merge(self, rows: Path) -> float:
        """The seconds it took. Raises BenchError if it failed."""
        assert self._spark.stdin
        self._spark.stdin.write(json.dumps(str(rows)) + "\n")
        self._spark.stdin.flush()
        seconds = float(self._answer("seconds"))
        shutil.rmtree(rows)
        return seconds

    def _answer(self, name: str) -> Any:
        assert self._spark.stdout
        for line in self._spark.stdout:
            if line.startswith("{"):  # the JVM shares this output
                return json.loads(line)[name]
        raise BenchError(f"the bare Spark process ended: {self._said.read_text()[-1000:]}")


def _fresh_rows(columns: Sequence[Asset]) -> list[tuple[str, ...]]:
    now, serial = clock.now(), time.time_ns() // 1000
    return [
        (
            *(TENANT, of.id, of.qualified_name, TYPE, of.name, ABOUT.format(f"{serial + step:016x}")),
            *(DATA_TYPE, SOURCE, of.parent, clock.clock(now, ids.event_id())),
        )
        for step, of in enumerate(columns)
    ]
