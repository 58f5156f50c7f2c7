"""What a worker reads and writes about targets, in the transaction of the job that brings one in line."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.types.json import Jsonb

from lily.store.postgres.enforcement.targets import DRIFT, TASK, group_of
from lily.store.postgres.jobs.queue import Job, Taken
from lily.store.postgres.queries import query

Path = tuple[str, ...]
MAX_SHOWN = 100  # tables that one report of drift lists


class StoredTarget(NamedTuple):
    key: str
    name: str
    type: str
    data_source: str
    roles: dict[str, dict[str, str]]
    wrapped_key: bytes
    sealed: bytes
    is_removed: bool
    is_stopped: bool
    failures: int
    created_at: datetime


class Receipt(NamedTuple):
    """A tag of an asset that the target has to enforce."""

    asset_id: str
    tag: str
    qualified_name: str
    path: Path


class Drifted(NamedTuple):
    path: Path
    found: str
    expected: str


class Sent(NamedTuple):
    """What a target that cannot be read knows of a table. `announced` are decisions that it may have got and has not
    confirmed; empty: that the table is no longer enforced."""

    confirmed: bytes | None
    announced: bytes | None
    version: int


class TargetLedger:
    """One tenant's targets on a worker's connection. Raises psycopg's errors."""

    def __init__(self, connection: Connection[Any], tenant: str) -> None:
        self._connection, self._tenant = connection, tenant

    def find(self, key: str) -> StoredTarget | None:
        row = self._connection.execute(query("enforcement/targets/find"), self._about(key)).fetchone()
        return None if row is None else StoredTarget(*row)

    def take(self, job: Job, key: str) -> datetime:
        """Removes the other queued runs of the target, which this one makes up for, and returns the time: everything
        that was committed before is part of this run. Raises Taken if another run has made up for this one."""
        about = self._about(key) | {"group": group_of(key), "task": TASK, "job": job.id}
        row = self._connection.execute(query("enforcement/runs/take"), about).fetchone()
        if row is None:
            raise Taken(f"Job {job.id} is part of another run of the target {key!r}.")
        began: datetime = row[0]
        return began

    def now(self) -> datetime:
        """By PostgreSQL's clock: everything that was committed before is part of what is read next."""
        row = self._connection.execute(query("enforcement/runs/clock")).fetchone()
        assert row is not None  # noqa: S101 - the query has no condition
        began: datetime = row[0]
        return began

    def confirmed_digests(self, key: str) -> dict[Path, bytes]:
        """By table, what was decided when it was last in line."""
        rows = self._connection.execute(query("enforcement/tables/digests"), self._about(key))
        return {tuple(path): bytes(digest) for path, digest in rows}

    def sent(self, key: str) -> dict[Path, Sent]:
        """By table, for a target that cannot be read. Digests of decisions."""
        rows = self._connection.execute(query("enforcement/tables/sent"), self._about(key))
        return {tuple(path): Sent(*found) for path, *found in rows}

    def announce(self, key: str, digests: Mapping[Path, bytes]) -> int:
        """Records what is about to be sent, with a new version for each table. Returns for how many tables that was not
        recorded yet: only what is committed here may be sent, or nobody would know that the target may have it."""
        given = {"paths": [Jsonb(path) for path in digests], "digests": list(digests.values())}
        return len(self._connection.execute(query("enforcement/tables/announce"), self._about(key) | given).fetchall())

    def keep_assets(self, key: str, asset_ids: Collection[str]) -> None:
        """Whose changes concern the target from now on."""
        self._connection.execute(query("enforcement/tables/keep_assets"), self._about(key) | {"ids": sorted(asset_ids)})

    def request(self, key: str, receipts: Sequence[Receipt], at: datetime) -> None:
        """Records what the target has to enforce, and what it no longer has to."""
        columns: list[list[Any]] = [list(column) for column in zip(*receipts, strict=True)] or [[], [], [], []]
        names = ("ids", "tags", "names", "paths")
        given = dict(zip(names, columns, strict=True)) | {"at": at, "paths": [Jsonb(path) for path in columns[3]]}
        self._connection.execute(query("enforcement/receipts/request"), self._about(key) | given)

    def confirm(self, key: str, digests: Mapping[Path, bytes], failed: Mapping[Path, str]) -> None:
        """Records which tables are in line, which are not, and the receipts of the former. Other tables are gone."""
        tables = {path: (digest, failed.get(path)) for path, digest in digests.items()}
        tables |= {path: (b"", error) for path, error in failed.items() if path not in tables}
        parameters = {
            "paths": [Jsonb(path) for path in tables],
            "digests": [digest for digest, _ in tables.values()],
            "errors": [error for _, error in tables.values()],
        }
        self._connection.execute(query("enforcement/tables/confirm"), self._about(key) | parameters)
        self._connection.execute(query("enforcement/receipts/confirm"), self._about(key))

    def report_drift(self, key: str, drifted: Sequence[Drifted]) -> None:
        """Records what was changed by hand, and queues the report for publication."""
        if not drifted:
            return
        shown = [{"table": ".".join(one.path), "found": one.found, "expected": one.expected} for one in drifted]
        parameters = {
            "paths": [Jsonb(one.path) for one in drifted],
            "drifts": [Jsonb({"found": one.found, "expected": one.expected}) for one in drifted],
            "kind": DRIFT,
            "report": Jsonb({"tables": len(drifted), "drift": shown[:MAX_SHOWN]}),
        }
        self._connection.execute(query("enforcement/tables/report_drift"), self._about(key) | parameters)

    def finish(
        self,
        key: str,
        began: datetime,
        *,
        steps: int = 0,
        drifted: int = 0,
        error: str | None = None,
        tables: int | None = None,
        columns: int | None = None,
        findings: Iterable[Mapping[str, str]] | None = None,
    ) -> None:
        """Records the end of a run. What is None stays as it was, but for the error."""
        parameters = {
            "began": began,
            "steps": steps,
            "drifted": drifted,
            "error": error,
            "tables": tables,
            "columns": columns,
            "findings": None if findings is None else Jsonb(list(findings)),
        }
        self._connection.execute(query("enforcement/runs/finish"), self._about(key) | parameters)

    def stop(self, job: Job, key: str) -> None:
        """The target refuses for good: it is not called again until someone requests a run."""
        about = self._about(key) | {"group": group_of(key), "task": TASK, "job": job.id}
        self._connection.execute(query("enforcement/runs/stop"), about)

    def wait(self, key: str, *, tables: int, columns: int, findings: Iterable[Mapping[str, str]]) -> None:
        """Records that a person has to act before the target is in line."""
        given = {"tables": tables, "columns": columns, "findings": Jsonb(list(findings))}
        self._connection.execute(query("enforcement/runs/wait"), self._about(key) | given)

    def written(self, key: str) -> Any:
        """What the scripts restrict that were handed out, as `keep_plan` stored it; None before the first."""
        row = self._connection.execute(query("enforcement/runs/written"), self._about(key)).fetchone()
        return None if row is None else row[0]

    def keep_plan(self, key: str, plan: Mapping[str, Any]) -> None:
        self._connection.execute(query("enforcement/runs/keep_plan"), self._about(key) | {"plan": Jsonb(plan)})

    def delete(self, key: str) -> None:
        """Deletes the target with everything about it, its schedule included."""
        self._connection.execute(query("enforcement/targets/delete"), self._about(key) | {"group": group_of(key)})

    def request_runs(self, asset_ids: Collection[str] | None) -> int:
        """Queues a run of each target that one of these assets concerns; None: of every target. Returns how many."""
        ids = None if asset_ids is None else sorted(asset_ids)
        parameters = {"tenant": self._tenant, "ids": ids, "task": TASK}
        return len(self._connection.execute(query("enforcement/runs/request"), parameters).fetchall())

    def _about(self, key: str) -> dict[str, Any]:
        return {"tenant": self._tenant, "key": key}


def delete_old_runs(connection: Connection[Any]) -> int:
    """Deletes the records of old runs, and receipts of tags that were withdrawn long ago. Returns their number."""
    row = connection.execute(query("enforcement/runs/delete_old")).fetchone()
    return 0 if row is None else int(row[0])
