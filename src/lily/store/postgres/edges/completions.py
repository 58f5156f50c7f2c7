"""The newest complete run of each job, and whether a run only repeats what the one before it claimed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import psycopg

from lily.lineage.claims import ClaimId, Completion, EndedClaim, JobId, NewestClaim, merge_completions, newest_claims
from lily.lineage.repeated_claims import Effect, JobClaims, StoredJob, by_job, effect_of
from lily.lineage.runs import RunId, RunLineage
from lily.model.edges import ClaimsEvent
from lily.store.postgres.copying import id_array
from lily.store.postgres.queries import query


class CompletedJobs(NamedTuple):
    """The jobs of a batch whose claims change, with what its events claim for them, what has ended on arrival, and the
    runs that they complete. `authorised` jobs have a newer completion with authority. `digests` are to be recorded if
    nothing else is stored. Of the `unclaimed` jobs no claims were stored before."""

    changed: set[JobId]
    authorised: dict[JobId, ClaimsEvent]
    claims: dict[ClaimId, NewestClaim]
    ended: list[EndedClaim]
    completing: dict[JobId, ClaimsEvent]
    completions: dict[JobId, Completion]
    digests: dict[JobId, tuple[str, JobClaims]]
    unclaimed: Collection[JobId]


NO_JOBS = CompletedJobs(set(), {}, {}, [], {}, {}, {}, frozenset())


class JobCompletions:
    """Runs in the caller's transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def complete(self, events: Sequence[ClaimsEvent], runs: Mapping[RunId, RunLineage]) -> CompletedJobs:
        """Locks and updates the completions of all jobs of the events. All events of a job are in one partition, so no
        other transaction changes its claims."""
        stored = self._lock({(event.tenant, event.job_id): None for event in events})
        known = {job: of.completion for job, of in stored.items()}
        completions, completing = merge_completions(known, events, runs)
        claims, ended = newest = newest_claims(events, completions, runs)
        claimed = by_job(events, newest)
        digests = {
            job: digest
            for job, completed in completing.items()
            if (digest := claimed[job].digest_at(completions[job], runs, job)) is not None
            and completed.run == completions[job].run
        }
        effects = {
            job: effect_of(stored.get(job), of, digests.get(job), completes=job in completing)
            for job, of in claimed.items()
        }
        changed = {job for job, effect in effects.items() if effect == "changed"}
        self._move_repeated_claims(job for job in changed if job in stored and stored[job].claims_run is not None)
        unclaimed = self._without_claims(job for job in changed if job not in stored)
        self._write(stored, completions, effects, {job: digests.get(job) for job in unclaimed})
        deciding = {(event.tenant, event.job_id): event for event in events if event.authorised}
        authorised = {
            job: deciding.get(job, event)
            for job, event in completing.items()
            if completions[job].authorised_at != (known[job].authorised_at if job in known else None)
        }
        return CompletedJobs(
            changed,
            authorised,
            {claim_id: claim for claim_id, claim in claims.items() if claim_id[0] in changed},
            ended,
            {job: event for job, event in completing.items() if job in changed},
            completions,
            {job: (digest, claimed[job]) for job, digest in digests.items() if job in changed - unclaimed},
            unclaimed,
        )

    def record_digests(self, jobs: CompletedJobs) -> None:
        """Called after the claims were merged, so that claims of other runs count."""
        if not jobs.digests:
            return
        found = [claimed.claims.values() for _, claimed in jobs.digests.values()]
        values = {
            "runs": [jobs.completions[job].run for job in jobs.digests],
            "completed": [jobs.completions[job].at for job in jobs.digests],
            "digests": [digest for digest, _ in jobs.digests.values()],
            "counts": [len(claims) for claims in found],
            "assumed": [sum(claim.assumed for claim in claims) for claims in found],
        }
        self._connection.execute(query("edges/record_digests"), job_columns(jobs.digests) | values)

    def _lock(self, jobs: Iterable[JobId]) -> dict[JobId, StoredJob]:
        rows = self._connection.execute(query("edges/lock_completions"), job_columns(jobs)).fetchall()
        return {
            (tenant, job): StoredJob(Completion(*completion), digest, claims_run)
            for tenant, job, *completion, digest, claims_run in rows
        }

    def _without_claims(self, jobs: Iterable[JobId]) -> set[JobId]:
        """Those that have no claims: afterwards they have what the batch states, and nothing that it could end."""
        if not (asked := list(jobs)):
            return set()
        return set(self._connection.execute(query("edges/without_claims"), job_columns(asked)).fetchall())

    def _move_repeated_claims(self, jobs: Iterable[JobId]) -> None:
        if moved := list(jobs):
            self._connection.execute(query("edges/move_repeated_claims"), job_columns(moved))

    def _write(
        self,
        stored: Mapping[JobId, StoredJob],
        completions: Mapping[JobId, Completion],
        effects: Mapping[JobId, Effect],
        digests: Mapping[JobId, str | None],
    ) -> None:
        """`digests` are those that are known before the claims are merged."""
        after = {job: _after(stored.get(job), completions[job], effects[job], digests.get(job)) for job in completions}
        written = {job: of for job, of in after.items() if stored.get(job) != of}
        if written:
            values = {
                "runs": [of.completion.run for of in written.values()],
                "completed": [of.completion.at for of in written.values()],
                "others": [of.completion.others_at for of in written.values()],
                "authorised": [of.completion.authorised_at for of in written.values()],
                "digests": [of.digest for of in written.values()],
                "claims_runs": [of.claims_run for of in written.values()],
            }
            self._connection.execute(query("edges/upsert_completions"), job_columns(written) | values)


def _after(stored: StoredJob | None, completion: Completion, effect: Effect, digest: str | None) -> StoredJob:
    if stored is None or effect == "changed":
        return StoredJob(completion, digest)
    return StoredJob(completion, stored.digest, stored.stored_under if effect == "repeated" else stored.claims_run)


def job_columns(jobs: Iterable[JobId]) -> dict[str, Any]:
    listed = list(jobs)
    return {"tenants": id_array(tenant for tenant, _ in listed), "ids": id_array(job for _, job in listed)}
