"""What the runs of jobs claim: an edge is a job's as long as its newest complete run, or a newer one, names it.

A claim lives until another run of its job completes later than the claim was made. That depends on no order of
arrival: so a claim that is dead is forgotten, one that arrives dead is dropped, and every claim that is stored is live.
A run that began before another one completed and completes after it keeps what it claimed since then, or restates when
completing. A completion that names no edge replaces nothing.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import orjson
import psycopg
from psycopg.types.json import Jsonb

from lily.model.causes import cause_of
from lily.model.edges import ClaimsEvent, EdgeKey
from lily.store.postgres.copying import copy_lines, escaped, escaped_json
from lily.store.postgres.protection.conducting_edges import CUT_OF_ANY, answered, asked, conducting_query, named
from lily.store.postgres.queries import layer_query, query

Job = tuple[str, str]  # tenant and id
Edge = tuple[str, EdgeKey]  # tenant and key


class Completion(NamedTuple):
    """The newest complete run of a job, and the newest completion of any other."""

    run: str
    at: str
    others_at: str | None = None

    def with_another(self, run: str, at: str) -> "Completion":
        if run == self.run:
            return self._replace(at=max(at, self.at))
        if at > self.at:
            return Completion(run, at, self.at)
        return self._replace(others_at=max(at, self.others_at or at))

    def ends(self, run: str, at: str) -> bool:
        """Whether a claim of this run, made then, is over."""
        until = self.others_at if run == self.run else self.at
        return until is not None and at <= until


class Claimed(NamedTuple):
    at: str
    masking: bool
    event: ClaimsEvent


class ClaimKeeper:
    """Works within the transaction of whoever calls it."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        connection.execute(query("edges/claims_stage"))

    def apply(self, batch: int, events: Sequence[ClaimsEvent]) -> Counter[str]:
        completions, closing = self._complete(events)
        made = {
            (job, run, key): claim
            for (job, run, key), claim in _folded(events).items()
            if job not in completions or not completions[job].ends(run, claim.at)
        }
        self._connection.execute("truncate staged_claims, touched_edges")
        copy_lines(self._connection, "staged_claims", [_claim_row(*c) for c in made.items()])
        ended = self._connection.execute(query("edges/claims_ended"), _columns(closing)).fetchall() if closing else []
        dropped = {(tenant, EdgeKey(*key)): (closing[tenant, job], masking) for tenant, job, *key, masking in ended}
        self._touch(made, dropped)
        self._connection.execute(query("edges/claims_place"))
        self._connection.execute(query("edges/claims_lock"))
        if closing:
            self._connection.execute(query("edges/claims_forget"), _columns(closing))
        self._connection.execute(query("edges/claims_make"))
        kept = self._protect(made, dropped)
        (changed,) = self._connection.execute(
            layer_query("edges/claims_settle", "source"), {"batch": batch}
        ).fetchone() or (0,)
        return Counter(merged=len(events), changed=changed, kept=kept)

    def _complete(self, events: Sequence[ClaimsEvent]) -> tuple[dict[Job, Completion], dict[Job, ClaimsEvent]]:
        """The completions of all jobs concerned, and for those that completed a run here the event that says so."""
        jobs = list({(event.tenant, event.job_id): None for event in events})
        rows = self._connection.execute(query("edges/claims_jobs"), _columns(jobs)).fetchall()
        known = {(tenant, job): Completion(*completion) for tenant, job, *completion in rows}
        completions, closing = dict(known), dict[Job, ClaimsEvent]()
        for event in events:
            if event.complete and event.claims:  # a run that tells no lineage replaces none
                job = (event.tenant, event.job_id)
                completion = completions.get(job)
                told = (event.run, event.clock)
                completions[job] = completion.with_another(*told) if completion else Completion(*told)
                closing[job] = max(event, closing.get(job, event), key=lambda event: event.clock)
        self._store({job: completion for job, completion in completions.items() if known.get(job) != completion})
        return completions, closing

    def _store(self, completions: dict[Job, Completion]) -> None:
        rows = [
            {"tenant": tenant, "job": job, "run": run, "completed_at": at, "others_at": others_at}
            for (tenant, job), (run, at, others_at) in completions.items()
        ]
        if rows:
            self._connection.cursor().executemany(query("edges/claims_complete"), rows)

    def _touch(
        self,
        made: dict[tuple[Job, str, EdgeKey], Claimed],
        dropped: dict[Edge, tuple[ClaimsEvent, bool]],
    ) -> None:
        """Names the edges whose claims change, with who is to blame."""
        blamed: dict[Edge, tuple[ClaimsEvent, bool]] = {edge: (event, True) for edge, (event, _) in dropped.items()}
        for ((tenant, _), _, key), claim in made.items():
            _, suspect = blamed.get((tenant, key), (None, False))
            blamed[tenant, key] = (claim.event, suspect or claim.masking)
        causes = {event.id: escaped_json(orjson.dumps([cause_of(event)]).decode()) for event, _ in blamed.values()}
        lines = [
            f"{tenant}\t{key.from_id}\t{key.to_id}\t{escaped(key.type)}\t{suspect}\t{event.time}\t{causes[event.id]}\n"
            for (tenant, key), (event, suspect) in blamed.items()
        ]
        copy_lines(self._connection, "touched_edges", lines)

    def _protect(
        self,
        made: dict[tuple[Job, str, EdgeKey], Claimed],
        dropped: dict[Edge, tuple[ClaimsEvent, bool]],
    ) -> int:
        """A run whose sender may not take a protective tag away keeps the edges along which one passes, and keeps them
        unmasked. Of a sender who may, a trace is left. Answers how many claims were kept against what a run said."""
        masked = {(job[0], key): claim.event for (job, _, key), claim in made.items() if claim.masking}
        if not dropped and not masked:
            return 0
        found = self._connection.execute(query("edges/claims_lost")).fetchall()
        lost = {(tenant, EdgeKey(*key)): claimed for tenant, *key, claimed in found}
        kept = 0
        for edge, claimed in self._conducting(lost):
            event, masking = dropped.get(edge) or (masked[edge], True)
            if claimed and masking:
                event = masked.get(edge, event)
            if event.authorised:
                self._audit(event, edge, "edge.masked" if claimed else "edge.deleted")
            else:
                self._restore(event, edge, masking=masking, masked=claimed and masking)
                kept += 1
        return kept

    def _conducting(self, lost: dict[Edge, bool]) -> Iterable[tuple[Edge, bool]]:
        """Those along which a tag passes that would no longer do so."""
        edges = list(lost)
        rows = self._connection.execute(conducting_query(CUT_OF_ANY), asked(edges)).fetchall() if edges else []
        for edge, conducting in answered(edges, rows):
            if conducting.lost_by_claims(claimed=lost[edge]):
                yield edge, lost[edge]

    def _restore(self, event: ClaimsEvent, edge: Edge, *, masking: bool, masked: bool) -> None:
        statement = "edges/claims_unmask" if masked else "edges/claims_keep"
        tenant, key = edge
        about = {"tenant": tenant, "job": event.job_id, **key._asdict()}
        self._connection.execute(query(statement), about | ({} if masked else {"masking": masking}))

    def _audit(self, event: ClaimsEvent, edge: Edge, action: str) -> None:
        entry = {"tenant": edge[0], "principal": event.by or f"job:{event.job_id}", "action": action}
        detail = {"job": event.job_id, "run": event.run, "event": event.id}
        self._connection.execute(
            query("protection/record_edge_audit"), entry | {"entity": named(edge[1]), "detail": Jsonb(detail)}
        )


def _folded(events: Iterable[ClaimsEvent]) -> dict[tuple[Job, str, EdgeKey], Claimed]:
    """The newest claim of each run about each edge. An event that names an edge twice has to mask it both times."""
    found: dict[tuple[Job, str, EdgeKey], Claimed] = {}
    for event in events:
        job, at = (event.tenant, event.job_id), event.clock
        for key, masking in event.claims:
            known = found.get((job, event.run, key))
            if known is None or at > known.at:
                found[job, event.run, key] = Claimed(at, masking, event)
            elif at == known.at:
                found[job, event.run, key] = Claimed(at, masking and known.masking, event)
    return found


def _claim_row(place: tuple[Job, str, EdgeKey], claim: Claimed) -> str:
    (tenant, job), run, key = place
    return (
        f"{tenant}\t{job}\t{escaped(run)}\t{key.from_id}\t{key.to_id}\t{escaped(key.type)}"
        f"\t{claim.masking}\t{escaped(claim.at)}\n"
    )


def _columns(jobs: Iterable[Job]) -> dict[str, list[str]]:
    found = list(jobs)
    return {"tenants": [tenant for tenant, _ in found], "ids": [job for _, job in found]}
