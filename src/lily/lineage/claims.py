"""Which claims on edges are in force: those of a job's newest complete run, and of newer runs.

A claim ends when another run of its job completes later than the claim was made. When its own run completes, all of
the run's claims count as made then, also those that had ended meanwhile. This does not depend on the order of arrival.
So a claim that ended can be deleted if its run has ended too, and one of a run that goes on is set aside. A completion
without edges ends no claims, unless it states that there are none.

A claim that has ended, or that a masked one replaced, goes on conducting protective tags (docs/decisions/0049) unless a
run of its job that completed with authority is newer: it is held, by its job and edge.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from lily.lineage.assumed_edges import assumed_claims
from lily.lineage.runs import ENDED, RunId, RunLineage, run_id
from lily.model.edges import SAME_AS, Claim, ClaimsEvent, EdgeKey

JobId = tuple[str, str]  # tenant and id
ClaimId = tuple[JobId, str, EdgeKey]  # job, run and edge
Fate = Literal["in force", "aside", "ended"]  # of a claim; aside: it has ended, but its run has not

DESIGN, DESIGN_OF_DATASET = "job", "dataset"  # runs of events without a run: each event is complete in itself
_DESIGNS = frozenset({DESIGN, DESIGN_OF_DATASET})


class Completion(NamedTuple):
    """The newest complete run of a job, the newest completion of any other run, and the newest with authority."""

    run: str
    at: str
    others_at: str | None = None
    authorised_at: str | None = None

    def merged(self, run: str, at: str, authorised_at: str | None = None) -> "Completion":
        """After another completion, in whichever order they arrive."""
        authorised_at = max(filter(None, (authorised_at, self.authorised_at)), default=None)
        if run == self.run and (run not in _DESIGNS or at == self.at):
            return self._replace(at=max(at, self.at), authorised_at=authorised_at)
        if at > self.at:
            return Completion(run, at, self.at, authorised_at)
        return self._replace(others_at=max(at, self.others_at or at), authorised_at=authorised_at)

    def ends(self, run: str, at: str) -> bool:
        """Whether it ends a claim that the run made at this clock."""
        until = self.others_at if run == self.run else self.at
        return until is not None and at <= until


class NewestClaim(NamedTuple):
    at: str
    masking: bool
    event: ClaimsEvent
    assumed: bool = False
    aside: bool = False  # it has ended, but its run has not

    @property
    def rank(self) -> tuple[bool, str]:
        """What is stated comes before what is assumed, then the newest."""
        return not self.assumed, self.at

    @property
    def masks_by_authority(self) -> bool:
        return self.masking and self.event.authorised


class EndedClaim(NamedTuple):
    """A claim that is not, or no longer, in force, with the clock from which it counted. The event ended it."""

    job: JobId
    key: EdgeKey
    masking: bool
    at: str
    event: ClaimsEvent


class NewestClaims(NamedTuple):
    in_force: dict[ClaimId, NewestClaim]
    ended: list[EndedClaim]


def claims_of(event: ClaimsEvent) -> list[Claim]:
    """What the event claims, and what follows from its inputs and outputs where it states nothing better."""
    if event.state in {"START", "FAIL", "ABORT"}:
        return list(event.claims)
    return [*event.claims, *assumed_claims(event.datasets, (claim.key for claim in event.claims))]


def edge_keys(event: ClaimsEvent) -> list[EdgeKey]:
    return [claim.key for claim in claims_of(event)]


def merge_completions(
    known: Mapping[JobId, Completion], events: Iterable[ClaimsEvent], runs: Mapping[RunId, RunLineage] | None = None
) -> tuple[dict[JobId, Completion], dict[JobId, ClaimsEvent]]:
    """The completions after these events, and for each job that completes a run here the newest event of it."""
    completions, completing = dict(known), dict[JobId, ClaimsEvent]()
    for event in events:
        at, authorised_at = _completes(event, runs or {})
        if at is not None:
            job = (event.tenant, event.job_id)
            completion = completions.get(job) or Completion(event.run, at)
            completions[job] = completion.merged(event.run, at, authorised_at)
            completing[job] = max(event, completing.get(job, event), key=lambda event: event.clock)
    return completions, completing


def newest_claims(
    events: Iterable[ClaimsEvent],
    completions: Mapping[JobId, Completion],
    runs: Mapping[RunId, RunLineage] | None = None,
) -> NewestClaims:
    """The newest claim of each run on each edge, without those that have ended for good. An event that names an edge
    twice masks it only if it does so both times."""
    newest, ended = dict[ClaimId, NewestClaim](), list[EndedClaim]()
    for claim_id, claim in _claims(events, runs or {}):
        known = newest.get(claim_id)
        if known is None or claim.rank > known.rank:
            newest[claim_id] = claim
            loses, wins = known, claim
        elif claim.rank == known.rank:
            newest[claim_id] = claim._replace(masking=claim.masking and known.masking)
            continue
        else:
            loses, wins = claim, known
        if wins.masking and loses is not None and not loses.masking:
            ended.append(_replaced(claim_id, loses, wins, runs or {}))
    fates: dict[tuple[JobId, str, str], Fate] = {}  # nearly all claims of a run are of one event
    in_force: dict[ClaimId, NewestClaim] = {}
    for claim_id, claim in newest.items():
        job, run, _ = claim_id
        fate = fates.get((job, run, claim.at))
        if fate is None:
            fate = fates[job, run, claim.at] = _fate(job, run, claim.at, completions, runs or {})
        if fate != "ended":
            in_force[claim_id] = claim if fate == "in force" else claim._replace(aside=True)
        if fate != "in force":
            ended.append(_ended(claim_id, claim, runs or {}))
    return NewestClaims(in_force, ended)


def _ended(claim_id: ClaimId, claim: NewestClaim, runs: Mapping[RunId, RunLineage]) -> EndedClaim:
    job, run, key = claim_id
    return EndedClaim(job, key, claim.masking, _counts_from(claim.at, runs.get((*job, run))), claim.event)


def _replaced(claim_id: ClaimId, claim: NewestClaim, by: NewestClaim, runs: Mapping[RunId, RunLineage]) -> EndedClaim:
    """A run that completes with authority decides about what it has said before, not about what others add to it."""
    job, run, _ = claim_id
    lineage, ended = runs.get((*job, run)), _ended(claim_id, claim, runs)
    decided = by.event.authorised and lineage is not None and lineage.authorised_at == lineage.completed_at
    return ended._replace(at=claim.at) if decided else ended


def _counts_from(at: str, lineage: RunLineage | None) -> str:
    return at if lineage is None else lineage.counts_from(at)


def _completes(event: ClaimsEvent, runs: Mapping[RunId, RunLineage]) -> tuple[str | None, str | None]:
    """The clock at which the run of the event completes, and at which it does so with authority."""
    run = runs.get(run_id(event))
    if run is not None:
        return run.completes, run.completes_by_authority
    states = bool(event.datasets.explained) or any(key.type != SAME_AS for key in edge_keys(event))
    at = event.clock if event.complete and states else None
    return at, at if event.authorised else None


def _claims(events: Iterable[ClaimsEvent], runs: Mapping[RunId, RunLineage]) -> Iterator[tuple[ClaimId, NewestClaim]]:
    """What the events claim, and what is to be assumed of each of their runs."""
    last: dict[RunId, ClaimsEvent] = {}
    for event in events:
        job, run, at = (event.tenant, event.job_id), event.run, event.clock
        of_run = run_id(event) in runs
        for key, masking, assumed in event.claims if of_run else claims_of(event):
            yield (job, run, key), NewestClaim(at, masking, event, assumed)
        if of_run:
            last[run_id(event)] = max(event, last.get(run_id(event), event), key=lambda event: event.clock)
    for (tenant, job_id, run), event in last.items():
        for key, at in runs[tenant, job_id, run].assumed().items():
            yield ((tenant, job_id), run, key), NewestClaim(at, masking=False, event=event, assumed=True)


def _fate(
    job: JobId, run: str, at: str, completions: Mapping[JobId, Completion], runs: Mapping[RunId, RunLineage]
) -> Fate:
    """What becomes of the claims that the run made at this clock."""
    lineage = runs.get((*job, run))
    if job not in completions or not completions[job].ends(run, _counts_from(at, lineage)):
        return "in force"
    return "ended" if lineage is None or lineage.state in ENDED else "aside"
