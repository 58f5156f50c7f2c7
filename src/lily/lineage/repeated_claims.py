"""Runs that claim exactly what the last complete run of their job claimed: nothing about the edges changes.

Nearly every run is like that. Its job then has a newer completion, and the claims count as made by the newer run,
but neither the claims nor the edges have to be written. `StoredJob` keeps what is needed to recognise it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from lily.lineage.claims import Completion, JobId, NewestClaim, NewestClaims
from lily.lineage.runs import RunId, RunLineage
from lily.model.edges import ClaimsEvent, EdgeKey

Effect = Literal["none", "repeated", "changed"]


class StoredJob(NamedTuple):
    """The newest completion of a job. A digest states that the job has the claims of that run only, all of them made
    when it completed, none set aside and none masked. They are stored under `claims_run`."""

    completion: Completion
    digest: str | None = None
    claims_run: str | None = None

    @property
    def stored_under(self) -> str:
        return self.claims_run or self.completion.run


class JobClaims(NamedTuple):
    """What the events of a batch claim for one job."""

    runs: set[str]
    claims: dict[EdgeKey, NewestClaim]
    uniform: bool = True  # all claims are of one run
    ended: bool = False  # some claims are not in force

    def digest_at(self, completion: Completion, runs: Mapping[RunId, RunLineage], job: JobId) -> str | None:
        """The digest of the claims, if they are all that the completed run claims; else None."""
        run = runs.get((*job, completion.run))
        if not self.uniform or self.runs != {completion.run} or run is None or run.state != "COMPLETE":
            return None
        return claims_digest(self.claims, completion.at)


def by_job(events: Iterable[ClaimsEvent], newest: NewestClaims) -> dict[JobId, JobClaims]:
    found: dict[JobId, JobClaims] = {}
    for event in events:
        job = (event.tenant, event.job_id)
        found.setdefault(job, JobClaims(set(), {})).runs.add(event.run)
    mixed: set[JobId] = set()
    for (job, _, key), claim in newest.in_force.items():
        of_job = found[job].claims
        if key in of_job:
            mixed.add(job)
        of_job[key] = claim
    ended = {claim.job for claim in newest.ended}
    return {job: of._replace(uniform=job not in mixed, ended=job in ended) for job, of in found.items()}


def effect_of(stored: StoredJob | None, claimed: JobClaims, digest: str | None, *, completes: bool) -> Effect:
    """What the events of a batch do to the claims of a job, `digest` being that of the run that they complete."""
    if stored is None or stored.digest is None or claimed.runs & {stored.completion.run, stored.stored_under}:
        return "changed"
    if claimed.ended:
        return "changed"
    if not completes and not claimed.claims:
        return "none"
    return "repeated" if completes and digest == stored.digest else "changed"


def claims_digest(claims: Mapping[EdgeKey, NewestClaim], at: str) -> str | None:
    """The same for the same edges in any order. None if a claim was not made at this clock, is masked or set aside:
    then what becomes of it depends on more than the edges."""
    if any(claim.at != at or claim.masking or claim.aside for claim in claims.values()):
        return None
    lines = sorted(f"{key.from_id}{key.to_id}{claim.assumed:d}{key.type}" for key, claim in claims.items())
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:32]
