"""Stores the claims of jobs' runs, and updates the edges that they claim. `lily.lineage.claims` has the rules."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
import psycopg
from psycopg import sql

from lily.lineage.claims import ClaimId, EndedClaim, JobId, NewestClaim
from lily.lineage.runs import RunId, RunLineage, run_id
from lily.model.causes import cause_of
from lily.model.edges import ClaimsEvent, EdgeKey
from lily.store.postgres.copying import NULL, copy_lines, escaped, escaped_json
from lily.store.postgres.edges.completions import NO_JOBS, CompletedJobs, JobCompletions, job_columns
from lily.store.postgres.edges.named_ends import name_ends
from lily.store.postgres.queries import layer_query, query
from lily.store.postgres.run_queries.queueing import queue_queries
from lily.store.postgres.runs.design_facets import merge_design_facets
from lily.store.postgres.runs.merge import merge_runs, run_columns
from lily.store.postgres.runs.outputs import merge_outputs
from lily.store.postgres.schemas.retirement import retire_columns
from lily.store.postgres.table_changes.queueing import queue_table_changes

MOST_DEAD_ROWS = 20_000  # of the staging tables, before they get new files

Claims = Mapping[ClaimId, NewestClaim]
TenantEdge = tuple[str, EdgeKey]


class TouchedEdge(NamedTuple):
    """An edge whose claims change, and what the claims of the batch, without those set aside, make of it."""

    event: ClaimsEvent
    claimed: bool = False
    masking: bool = False
    by_authority: bool = False
    assumed: bool = False
    authority: ClaimsEvent | None = None  # an event that has it

    @classmethod
    def by(cls, event: ClaimsEvent, authority: ClaimsEvent | None = None) -> "TouchedEdge":
        return cls(event, authority=event if event.authorised else authority)

    @classmethod
    def of(cls, claim: NewestClaim) -> "TouchedEdge":
        """An edge of which nothing else changes."""
        event = claim.event
        authority = event if event.authorised else None
        if claim.aside:
            return cls(event, authority=authority)
        return cls(event, True, claim.masking, claim.masks_by_authority, claim.assumed, authority)

    def claimed_by(self, claim: NewestClaim) -> "TouchedEdge":
        authority = claim.event if claim.event.authorised else self.authority
        if claim.aside:
            return self._replace(event=claim.event, authority=authority)
        masking, by_authority, assumed = claim.masking, claim.masks_by_authority, claim.assumed
        if self.claimed:
            masking, assumed = self.masking and masking, self.assumed and assumed
            by_authority = self.by_authority and by_authority
        return TouchedEdge(claim.event, True, masking, by_authority, assumed, authority)


class ClaimMerger:
    """Runs in the caller's transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._jobs = JobCompletions(connection)
        connection.execute(query("edges/stage_claims"))
        self._dead_rows = 0

    def merge(self, batch: int, events: Sequence[ClaimsEvent]) -> Counter[str]:
        if confirming := [event for event in events if event.released]:
            changed = self._confirm(batch, confirming)
            others = [event for event in events if not event.released]
            counts = self.merge(batch, others) if others else Counter[str]()
            return counts + Counter(merged=len(confirming), changed=changed)
        runs, events = merge_runs(self._connection, events)
        jobs = self._jobs.complete(events, runs)
        merged, changed, held = len(events), 0, 0
        released = self._release(jobs.authorised)
        if jobs.changed or released:
            of_jobs = [event for event in events if (event.tenant, event.job_id) in jobs.changed]
            some = {run: lineage for run, lineage in runs.items() if run[:2] in jobs.changed}
            changed, held = self._merge_claims(batch, of_jobs, some, jobs, released)
            self._jobs.record_digests(jobs)
        gone = retire_columns(self._connection, batch, events)
        queue_table_changes(self._connection, events, gone)
        merge_design_facets(self._connection, events)
        merge_outputs(self._connection, events)
        name_ends(self._connection, events)
        queue_queries(self._connection, events)
        return Counter(merged=merged, changed=changed, held=held)

    def _confirm(self, batch: int, events: Sequence[ClaimsEvent]) -> int:
        """Releases the claims whose end the events confirm. Returns how many edges changed."""
        by_clock = sorted(events, key=lambda event: event.clock)
        newest = {(event.tenant, event.job_id, key): event for event in by_clock for key in event.released}
        columns = {
            "tenants": [tenant for tenant, _, _ in newest],
            "jobs": [job for _, job, _ in newest],
            "froms": [key.from_id for _, _, key in newest],
            "tos": [key.to_id for _, _, key in newest],
            "types": [key.type for _, _, key in newest],
            "clocks": [event.clock for event in newest.values()],
        }
        rows = self._connection.execute(query("edges/confirm_releases"), columns).fetchall()
        released = {(tenant, EdgeKey(*key)): newest[tenant, job, EdgeKey(*key)] for tenant, job, *key in rows}
        return self._merge_claims(batch, (), {}, NO_JOBS, released)[0] if released else 0

    def _release(self, authorised: Mapping[JobId, ClaimsEvent]) -> dict[TenantEdge, ClaimsEvent]:
        """The edges of claims that are no longer held, because their job has completed a run with authority."""
        if not authorised:
            return {}
        rows = self._connection.execute(query("edges/release_claims"), job_columns(authorised)).fetchall()
        return {(tenant, EdgeKey(*key)): authorised[tenant, job] for tenant, job, *key in rows}

    def _merge_claims(
        self,
        batch: int,
        events: Sequence[ClaimsEvent],
        runs: Mapping[RunId, RunLineage],
        jobs: CompletedJobs,
        released: Mapping[TenantEdge, ClaimsEvent],
    ) -> tuple[int, int]:
        """Returns how many edges changed, and how many claims are held from now on."""
        self._empty_staged(len(jobs.claims))
        claimed_runs = {run: lineage for run, lineage in runs.items() if run[:2] not in jobs.unclaimed}
        ending = {job: event for job, event in jobs.completing.items() if job not in jobs.unclaimed}
        copy_lines(self._connection, "staged_claims", [_claim_row(*claim) for claim in jobs.claims.items()])
        last = {run_id(event): event for event in sorted(events, key=lambda event: event.clock)}
        revived = {(job[0], key): event for job, key, event in self._revived(claimed_runs, last)}
        withdrawn = self._withdrawn(claimed_runs, last)
        superseded = self._superseded(ending)
        gone = [*withdrawn, *superseded, *jobs.ended]
        touched, causes = self._stage_touched_edges(jobs, {**revived, **released}, gone)
        parameters = {"batch": batch, "causes": causes}
        new, created = self._connection.execute(query("edges/insert_touched_edges"), parameters).fetchone() or (0, 0)
        if new < touched:
            self._connection.execute(query("edges/lock_touched_edges"))
        if ending:
            self._connection.execute(query("edges/delete_superseded_claims"), job_columns(ending))
        ended = [*_without_authority(withdrawn, events), *superseded, *jobs.ended, *self._upsert(jobs.claims, last)]
        if new == touched and not ended:  # no other claims to look at
            return created, 0
        held = self._hold(ended)
        self._connection.execute(query("edges/claimed_again"))
        (changed,) = self._connection.execute(
            layer_query("edges/update_touched_edges", "source"), parameters
        ).fetchone() or (0,)
        return created + changed, held

    def _empty_staged(self, claims: int) -> None:
        """TRUNCATE makes new files and has the statements that read the tables planned again, but DELETE leaves dead
        rows."""
        statement = "truncate {}" if self._dead_rows > MOST_DEAD_ROWS else "delete from {}"
        self._dead_rows = (0 if self._dead_rows > MOST_DEAD_ROWS else self._dead_rows) + claims
        for table in ("staged_claims", "ended_claims", "touched_edges"):
            self._connection.execute(sql.SQL(statement).format(sql.Identifier(table)))

    def _revived(
        self, runs: Mapping[RunId, RunLineage], last: Mapping[RunId, ClaimsEvent]
    ) -> list[tuple[JobId, EdgeKey, ClaimsEvent]]:
        if not runs:
            return []
        rows = self._connection.execute(query("edges/revived_claims"), run_columns(runs)).fetchall()
        return [((tenant, job), EdgeKey(*key), last[tenant, job, run]) for tenant, job, run, *key in rows]

    def _withdrawn(self, runs: Mapping[RunId, RunLineage], last: Mapping[RunId, ClaimsEvent]) -> list[EndedClaim]:
        """What was assumed of these runs and is no longer."""
        if not runs:
            return []
        return _of_runs(self._connection.execute(query("edges/withdrawn_claims"), run_columns(runs)).fetchall(), last)

    def _upsert(self, claims: Claims, last: Mapping[RunId, ClaimsEvent]) -> list[EndedClaim]:
        """Stores the staged claims. Returns unmasked ones that masked claims of the same run have replaced."""
        rows = self._connection.execute(query("edges/upsert_claims")).fetchall()
        replaced = [row[1:] for row in rows if row[1] is not None]
        if rows[0][0] < len(claims):  # some of them are not newer than the stored ones
            replaced += self._connection.execute(query("edges/losing_claims")).fetchall()
        return _of_runs(replaced, last)

    def _superseded(self, completing: Mapping[JobId, ClaimsEvent]) -> list[EndedClaim]:
        """The claims that completions end and that no run of the batch makes again."""
        if not completing:
            return []
        rows = self._connection.execute(query("edges/superseded_claims"), job_columns(completing)).fetchall()
        return [
            EndedClaim((tenant, job), EdgeKey(*key), masking, at, completing[tenant, job])
            for tenant, job, *key, masking, at in rows
        ]

    def _stage_touched_edges(
        self, jobs: CompletedJobs, changed: Mapping[TenantEdge, ClaimsEvent], ended: Iterable[EndedClaim]
    ) -> tuple[int, str]:
        """Stages the edges whose claims change, each with the event that changes them, and what the claims of this
        batch alone make of it. Returns how many there are, and the causes of their changes."""
        touched = {edge: TouchedEdge.by(event) for edge, event in changed.items()}
        for ending in ended:
            edge = (ending.job[0], ending.key)
            if edge not in touched or touched[edge].authority is None:
                touched[edge] = TouchedEdge.by(ending.event, jobs.authorised.get(ending.job))
        for ((tenant, _), _, key), claim in jobs.claims.items():
            known = touched.get((tenant, key))
            touched[tenant, key] = TouchedEdge.of(claim) if known is None else known.claimed_by(claim)
        events = list({edge.event.id: edge.event for edge in touched.values()}.values())
        numbers = {event.id: number for number, event in enumerate(events)}
        authorities = {edge.authority.id: edge.authority for edge in touched.values() if edge.authority is not None}
        noted = {event_id: _authority(event) for event_id, event in authorities.items()}
        lines = [
            f"{tenant}\t{key.from_id}\t{key.to_id}\t{escaped(key.type)}\t{edge.claimed}\t{edge.masking}"
            f"\t{edge.by_authority}\t{edge.assumed}\t{edge.event.time}\t{numbers[edge.event.id]}"
            f"\t{noted[edge.authority.id] if edge.authority is not None else NULL}\n"
            for (tenant, key), edge in touched.items()
        ]
        copy_lines(self._connection, "touched_edges", lines)
        return len(lines), orjson.dumps([[cause_of(event)] for event in events]).decode()

    def _hold(self, ended: Iterable[EndedClaim]) -> int:
        """Holds claims that ended without authority. Returns how many."""
        newest: dict[tuple[JobId, EdgeKey, bool], EndedClaim] = {}
        for claim in ended:
            place = (claim.job, claim.key, claim.masking)
            if place not in newest or newest[place].at < claim.at:
                newest[place] = claim
        if not newest:
            return 0
        copy_lines(self._connection, "ended_claims", [_ended_row(claim) for claim in newest.values()])
        return self._connection.execute(query("edges/hold_claims")).rowcount


def _of_runs(rows: Iterable[Sequence[Any]], last: Mapping[RunId, ClaimsEvent]) -> list[EndedClaim]:
    """Claims that have ended, each by the newest event of its run."""
    return [
        EndedClaim((tenant, job), EdgeKey(*key), masking, at, last[tenant, job, run])
        for tenant, job, run, *key, masking, at in rows
    ]


def _without_authority(withdrawn: Sequence[EndedClaim], events: Sequence[ClaimsEvent]) -> list[EndedClaim]:
    """A run that withdraws what was assumed of it need not have completed. It does so with authority if all of the
    events that may be the reason have it."""
    plain = {run_id(event) for event in events if not event.authorised}
    return [claim for claim in withdrawn if run_id(claim.event) in plain]


def _authority(event: ClaimsEvent) -> str:
    return _json({**cause_of(event), "by": event.by or f"job:{event.job_id}", "job": event.job_id, "run": event.run})


def _json(value: Any) -> str:
    return escaped_json(orjson.dumps(value).decode())


def _claim_row(claim_id: ClaimId, claim: NewestClaim) -> str:
    (tenant, job), run, key = claim_id
    return (
        f"{tenant}\t{job}\t{escaped(run)}\t{key.from_id}\t{key.to_id}\t{escaped(key.type)}"
        f"\t{claim.masking}\t{escaped(claim.at)}\t{claim.assumed}\t{claim.aside}\t{claim.masks_by_authority}\n"
    )


def _ended_row(claim: EndedClaim) -> str:
    (tenant, job), key, masking, at, event = claim
    return (
        f"{tenant}\t{job}\t{key.from_id}\t{key.to_id}\t{escaped(key.type)}\t{masking}\t{escaped(at)}"
        f"\t{escaped(event.by)}\t{event.time}\n"
    )
