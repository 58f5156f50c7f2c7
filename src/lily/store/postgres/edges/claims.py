"""Stores the claims of jobs' runs, and updates the edges that they claim. `lily.lineage.claims` has the rules."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
import psycopg

from lily.lineage.claims import ClaimId, JobId, NewestClaim
from lily.lineage.edge_protection import EdgeEffect, edge_name
from lily.lineage.runs import RunId, RunLineage, run_id
from lily.model.causes import cause_of
from lily.model.edges import ClaimsEvent, EdgeKey
from lily.store.postgres.audit.entries import AuditEntry, insert_audit
from lily.store.postgres.copying import copy_lines, escaped, escaped_json
from lily.store.postgres.edges.completions import CompletedJobs, JobCompletions, job_columns
from lily.store.postgres.edges.named_ends import name_ends
from lily.store.postgres.protection.edge_states import (
    CUT_OF_ANY_TENANT,
    TenantEdge,
    edge_parameters,
    edge_states,
    edge_states_query,
)
from lily.store.postgres.queries import layer_query, query
from lily.store.postgres.run_queries.queueing import queue_queries
from lily.store.postgres.runs.design_facets import merge_design_facets
from lily.store.postgres.runs.merge import merge_runs, run_columns
from lily.store.postgres.schemas.retirement import retire_columns

Claims = Mapping[ClaimId, NewestClaim]


class Dropped(NamedTuple):
    """A claim that an event drops: that of another run, or one that its own run withdraws."""

    event: ClaimsEvent
    masking: bool = False
    assumed: bool = False
    withdrawn: bool = False


DroppedClaims = Mapping[TenantEdge, Dropped]


class TouchedEdge(NamedTuple):
    """An edge whose claims change, and what the claims of the batch, without those set aside, make of it."""

    event: ClaimsEvent
    suspect: bool = False
    claimed: bool = False
    masking: bool = False
    assumed: bool = False

    def claimed_by(self, claim: NewestClaim) -> "TouchedEdge":
        suspect = self.suspect or claim.masking
        if claim.aside:
            return self._replace(event=claim.event, suspect=suspect)
        masking, assumed = claim.masking, claim.assumed
        if self.claimed:
            masking, assumed = self.masking and masking, self.assumed and assumed
        return TouchedEdge(claim.event, suspect, claimed=True, masking=masking, assumed=assumed)


class ClaimMerger:
    """Runs in the caller's transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._jobs = JobCompletions(connection)
        connection.execute(query("edges/stage_claims"))

    def merge(self, batch: int, events: Sequence[ClaimsEvent]) -> Counter[str]:
        runs, events = merge_runs(self._connection, events)
        jobs = self._jobs.complete(events, runs)
        merged, changed, kept = len(events), 0, 0
        if jobs.changed:
            of_jobs = [event for event in events if (event.tenant, event.job_id) in jobs.changed]
            some = {run: lineage for run, lineage in runs.items() if run[:2] in jobs.changed}
            changed, kept = self._merge_claims(batch, of_jobs, some, jobs)
            self._jobs.record_digests(jobs)
        retire_columns(self._connection, batch, events)
        merge_design_facets(self._connection, events)
        name_ends(self._connection, events)
        queue_queries(self._connection, events)
        return Counter(merged=merged, changed=changed, kept=kept)

    def _merge_claims(
        self, batch: int, events: Sequence[ClaimsEvent], runs: Mapping[RunId, RunLineage], jobs: CompletedJobs
    ) -> tuple[int, int]:
        """Returns how many edges changed, and how many claims were restored."""
        claims, completing = jobs.claims, jobs.completing
        self._connection.execute("truncate staged_claims, touched_edges")
        copy_lines(self._connection, "staged_claims", [_claim_row(*claim) for claim in claims.items()])
        last = {run_id(event): event for event in sorted(events, key=lambda event: event.clock)}
        revived = self._changed_by("edges/revived_claims", runs, last)
        withdrawn = self._changed_by("edges/withdrawn_claims", runs, last)
        ended = {edge: Dropped(event, withdrawn=True) for edge, event in withdrawn.items()}
        dropped = ended | dict(self._dropped(completing))
        touched = self._stage_touched_edges(claims, dropped, revived)
        new, created = self._connection.execute(
            layer_query("edges/insert_touched_edges", "source"), {"batch": batch}
        ).fetchone() or (0, 0)
        if new < touched:
            self._connection.execute(query("edges/lock_touched_edges"))
        if completing:
            self._connection.execute(query("edges/delete_superseded_claims"), job_columns(completing))
        self._connection.execute(query("edges/upsert_claims"))
        if new == touched:  # no other claims to look at, and no tag that passed them
            return created, 0
        kept = self._protect(claims, dropped)
        (changed,) = self._connection.execute(
            layer_query("edges/update_touched_edges", "source"), {"batch": batch}
        ).fetchone() or (0,)
        return created + changed, kept

    def _changed_by(
        self, name: str, runs: Mapping[RunId, RunLineage], last: Mapping[RunId, ClaimsEvent]
    ) -> dict[TenantEdge, ClaimsEvent]:
        """Runs a statement that changes claims of these runs. Returns their edges, with the newest event of the run."""
        if not runs:
            return {}
        rows = self._connection.execute(query(name), run_columns(runs)).fetchall()
        return {(tenant, EdgeKey(*key)): last[tenant, job, run] for tenant, job, run, *key in rows}

    def _dropped(self, completing: Mapping[JobId, ClaimsEvent]) -> DroppedClaims:
        """The claims that completions end and that no run of the batch makes again."""
        if not completing:
            return {}
        rows = self._connection.execute(query("edges/superseded_claims"), job_columns(completing)).fetchall()
        return {
            (tenant, EdgeKey(*key)): Dropped(completing[tenant, job], masking, assumed)
            for tenant, job, *key, masking, assumed in rows
        }

    def _stage_touched_edges(
        self, claims: Claims, dropped: DroppedClaims, revived: Mapping[TenantEdge, ClaimsEvent]
    ) -> int:
        """Stages the edges whose claims change, each with the event that changes them, whether a tag may be lost, and
        what the claims of this batch alone make of it. Returns how many there are."""
        touched = {edge: TouchedEdge(event) for edge, event in revived.items()}
        touched |= {edge: TouchedEdge(claim.event, suspect=True) for edge, claim in dropped.items()}
        for ((tenant, _), _, key), claim in claims.items():
            known = touched.get((tenant, key))
            touched[tenant, key] = (
                TouchedEdge(claim.event).claimed_by(claim) if known is None else known.claimed_by(claim)
            )
        causes = {
            edge.event.id: escaped_json(orjson.dumps([cause_of(edge.event)]).decode()) for edge in touched.values()
        }
        lines = [
            f"{tenant}\t{key.from_id}\t{key.to_id}\t{escaped(key.type)}\t{edge.suspect}\t{edge.claimed}\t{edge.masking}"
            f"\t{edge.assumed}\t{edge.event.time}\t{causes[edge.event.id]}\n"
            for (tenant, key), edge in touched.items()
        ]
        copy_lines(self._connection, "touched_edges", lines)
        return len(lines)

    def _protect(self, claims: Claims, dropped: DroppedClaims) -> int:
        """Restores claims, unmasked, on edges that a protective tag passes, unless the sender of the run was authorised
        to remove it: that is audited. Returns how many claims it restored."""
        masked = {(job[0], key): claim.event for (job, _, key), claim in claims.items() if claim.masking}
        if not dropped and not masked:
            return 0
        restored = 0
        for edge, claimed in self._stopping_tags():
            lost = dropped.get(edge) or Dropped(masked[edge], masking=True)
            if claimed and lost.masking:
                lost = lost._replace(event=masked.get(edge, lost.event))
            if lost.event.authorised:
                effect: EdgeEffect = "edge.masked" if claimed else "edge.deleted"
                insert_audit(self._connection, [_audit_entry(lost.event, edge, effect)])
            else:
                self._restore(lost, edge, masked=claimed and lost.masking)
                restored += 1
        return restored

    def _stopping_tags(self) -> Iterator[tuple[TenantEdge, bool]]:
        """The edges where the changed claims would stop a protective tag, and whether any claim is left there."""
        rows = self._connection.execute(query("edges/edges_losing_claims")).fetchall()
        claimed = {(tenant, EdgeKey(*key)): is_claimed for tenant, *key, is_claimed in rows}
        if not claimed:
            return
        edges = list(claimed)
        rows = self._connection.execute(edge_states_query(CUT_OF_ANY_TENANT), edge_parameters(edges)).fetchall()
        for edge, state in edge_states(edges, rows):
            if state.effect_of_claims(claimed=claimed[edge]):
                yield edge, claimed[edge]

    def _restore(self, lost: Dropped, edge: TenantEdge, *, masked: bool) -> None:
        tenant, key = edge
        parameters: dict[str, Any] = {"tenant": tenant, "job": lost.event.job_id, **key._asdict()}
        if masked:
            self._connection.execute(query("edges/unmask_claims"), parameters)
        elif lost.withdrawn:
            parameters |= {"run": lost.event.run, "at": lost.event.clock}
            self._connection.execute(query("edges/restore_withdrawn_claim"), parameters)
        else:
            parameters |= {"masking": lost.masking, "assumed": lost.assumed}
            self._connection.execute(query("edges/restore_claim"), parameters)


def _audit_entry(event: ClaimsEvent, edge: TenantEdge, effect: EdgeEffect) -> AuditEntry:
    detail = {"job": event.job_id, "run": event.run, "event": event.id}
    return AuditEntry(edge[0], event.by or f"job:{event.job_id}", effect, edge_name(edge[1]), detail)


def _claim_row(claim_id: ClaimId, claim: NewestClaim) -> str:
    (tenant, job), run, key = claim_id
    return (
        f"{tenant}\t{job}\t{escaped(run)}\t{key.from_id}\t{key.to_id}\t{escaped(key.type)}"
        f"\t{claim.masking}\t{escaped(claim.at)}\t{claim.assumed}\t{claim.aside}\n"
    )
