"""Which claims on edges are in force: those that a job's newest complete run, or a newer run, made.

A claim ends when another run of its job completes later than the claim was made. This does not depend on the order of
arrival, so an ended claim can be deleted, one that arrives late can be dropped, and every stored claim is in force.
If two runs of a job overlap, the one that completes last keeps the claims that it made after the other completed, and
those that it states again when it completes. A completion without edges ends no claims,
unless it states that there are none.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lily.lineage.assumed_edges import assumed_claims
from lily.model.edges import Claim, ClaimsEvent, EdgeKey

JobId = tuple[str, str]  # tenant and id
ClaimId = tuple[JobId, str, EdgeKey]  # job, run and edge


class Completion(NamedTuple):
    """The newest complete run of a job, and the newest completion of any other run."""

    run: str
    at: str
    others_at: str | None = None

    def merged(self, run: str, at: str) -> "Completion":
        """After another completion, in whichever order they arrive."""
        if run == self.run:
            return self._replace(at=max(at, self.at))
        if at > self.at:
            return Completion(run, at, self.at)
        return self._replace(others_at=max(at, self.others_at or at))

    def ends(self, run: str, at: str) -> bool:
        """Whether it ends a claim that the run made at this clock."""
        until = self.others_at if run == self.run else self.at
        return until is not None and at <= until


class NewestClaim(NamedTuple):
    at: str
    masking: bool
    event: ClaimsEvent
    assumed: bool = False


def claims_of(event: ClaimsEvent) -> list[Claim]:
    """What the event claims, and what follows from its inputs and outputs where it states nothing better."""
    return [*event.claims, *assumed_claims(event.datasets, (claim.key for claim in event.claims))]


def edge_keys(event: ClaimsEvent) -> list[EdgeKey]:
    return [claim.key for claim in claims_of(event)]


def merge_completions(
    known: Mapping[JobId, Completion], events: Iterable[ClaimsEvent]
) -> tuple[dict[JobId, Completion], dict[JobId, ClaimsEvent]]:
    """The completions after these events, and for each job that completes a run here the newest event that does."""
    completions, completing = dict(known), dict[JobId, ClaimsEvent]()
    for event in events:
        if event.complete and (event.datasets.explained or claims_of(event)):
            job = (event.tenant, event.job_id)
            completion = completions.get(job)
            completions[job] = (
                completion.merged(event.run, event.clock) if completion else Completion(event.run, event.clock)
            )
            completing[job] = max(event, completing.get(job, event), key=lambda event: event.clock)
    return completions, completing


def newest_claims(events: Iterable[ClaimsEvent], completions: Mapping[JobId, Completion]) -> dict[ClaimId, NewestClaim]:
    """The newest claim of each run on each edge, without those that have ended. An event that names an edge twice masks
    it only if it does so both times."""
    newest: dict[ClaimId, NewestClaim] = {}
    for event in events:
        job, at = (event.tenant, event.job_id), event.clock
        for key, masking, assumed in claims_of(event):
            known = newest.get((job, event.run, key))
            if known is None or at > known.at:
                newest[job, event.run, key] = NewestClaim(at, masking, event, assumed)
            elif at == known.at:
                newest[job, event.run, key] = NewestClaim(
                    at, masking and known.masking, event, assumed and known.assumed
                )
    return {
        (job, run, key): claim
        for (job, run, key), claim in newest.items()
        if job not in completions or not completions[job].ends(run, claim.at)
    }
