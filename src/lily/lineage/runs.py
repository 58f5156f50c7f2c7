"""What the events of a run add up to: its state, the datasets it read and wrote, and what may be assumed of them.

Everything is kept with the newest clock at which an event stated it, so the order of arrival makes no difference.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lily.lineage.assumed_edges import are_too_many, assumed_claims, unexplained
from lily.lineage.waiting_queries import join_query
from lily.model.edges import NOT_CONTENT, SAME_AS, ClaimsEvent, EdgeKey, RunDatasets

Clocks = dict[str, str]
RunId = tuple[str, str, str]  # tenant, job and run
KeptFacets = dict[str, list[Any]]  # by place: the clock and the facet as it came

MAX_DATASETS = 5_000  # of one run in one role: what comes beyond is not used for assumptions
MAX_FACETS = 500  # of one run, or of one asset without a run: the newest
FAILED = ("FAIL", "ABORT")
ENDED = ("COMPLETE", *FAILED)


@dataclass(slots=True)
class RunLineage:
    """`stated` has the edges into outputs as `from>to`. `completed_at` is the clock of the newest event that completes
    the run and could be read; None until one does. `authorised_at` is the same for events with authority, and `decided`
    what these state: lineage, inputs, outputs. `own_inputs` and `own_outputs` are the datasets that they name. If it is
    `contested`, an event without authority states what takes assumptions away. `query` is the SQL that waits for the
    completion, after the clock of its event and whether that was authorised. If the SQL of a run is `queried`, it is
    analyzed, and none waits."""

    states: Clocks = field(default_factory=dict)
    inputs: Clocks = field(default_factory=dict)
    outputs: Clocks = field(default_factory=dict)
    explained: Clocks = field(default_factory=dict)
    stated: Clocks = field(default_factory=dict)
    completed_at: str | None = None
    has_lineage: bool = False
    authorised_at: str | None = None
    decided: list[str] = field(default_factory=list)
    own_inputs: list[str] = field(default_factory=list)
    own_outputs: list[str] = field(default_factory=list)
    contested: bool = False
    first_at: str | None = None
    last_at: str | None = None
    query: list[Any] | None = None
    queried: bool = False
    facets: KeptFacets = field(default_factory=dict)

    @classmethod
    def of(cls, document: Mapping[str, Any], facets: KeptFacets) -> "RunLineage":
        return cls(**document, facets=facets)

    def as_document(self) -> dict[str, Any]:
        """Everything but the facets."""
        return {name: value for name in self.__slots__ if name != "facets" and (value := getattr(self, name))}

    def add(self, event: ClaimsEvent) -> None:
        clock, datasets = event.clock, event.datasets
        _note(self.states, [event.state], clock)
        _note(self.inputs, datasets.inputs, clock)
        _note(self.outputs, datasets.outputs, clock)
        _note(self.explained, datasets.explained, clock)
        written = frozenset(datasets.outputs)
        direct = (key for key, *_ in event.claims if key.to_id in written and key.type not in NOT_CONTENT)
        _note(self.stated, (f"{key.from_id}>{key.to_id}" for key in direct), clock)
        if event.complete:
            self.completed_at = max(clock, self.completed_at or clock)
        states_lineage = bool(datasets.explained) or any(key.type != SAME_AS for key, *_ in event.claims)
        self.has_lineage |= states_lineage
        self.contested |= not event.authorised and (states_lineage or event.state in FAILED)
        if event.authorised:
            stated = {"lineage": states_lineage, "inputs": datasets.inputs, "outputs": datasets.outputs}
            self.decided = sorted({*self.decided, *(name for name, given in stated.items() if given)})
            self.own_inputs = sorted({*self.own_inputs, *datasets.inputs} & self.inputs.keys())
            self.own_outputs = sorted({*self.own_outputs, *datasets.outputs} & self.outputs.keys())
            if event.complete:
                self.authorised_at = max(clock, self.authorised_at or clock)
        self.first_at, self.last_at = min(clock, self.first_at or clock), max(clock, self.last_at or clock)
        keep_facets(self.facets, event)

    @property
    def state(self) -> str:
        """The newest of the states that end a run, else of the others; OTHER only adds to a run."""
        for states in (ENDED, ("START", "RUNNING"), ("OTHER",)):
            found = [(self.states[state], state) for state in states if state in self.states]
            if found:
                return max(found)[1]
        return "OTHER"

    @property
    def ended_at(self) -> str | None:
        return self.states[self.state] if self.state in ENDED else None

    @property
    def completes(self) -> str | None:
        """The clock from which the run replaces the edges of earlier ones; None if it does not."""
        return self.completed_at if self.has_lineage or self.assumed() else None

    @property
    def completes_by_authority(self) -> str | None:
        """The same, by what events with authority state alone: completing a run decides nothing that others add. What
        others explain, or report as failed, is not assumed any more, and neither is anything of a run with too many
        datasets, nor of an output whose stated source is an input only by others: then the run has claimed less than
        those with authority meant, and ends nothing."""
        decides = "lineage" in self.decided or {"inputs", "outputs"} <= set(self.decided)
        full = MAX_DATASETS in {len(self.inputs), len(self.outputs)} or self._is_too_large_to_assume()
        if not decides or self.contested or full or self._is_explained_by_others() or not self.completes:
            return None
        return self.authorised_at

    @property
    def is_own(self) -> bool:
        """Whether events with authority name all of its datasets."""
        return len(self.own_inputs) == len(self.inputs) and len(self.own_outputs) == len(self.outputs)

    def counts_from(self, clock: str) -> str:
        """A claim that was made at this clock is as new as the completion of its run, which confirms it."""
        return max(clock, self.completed_at or clock)

    def assumed(self) -> dict[EdgeKey, str]:
        """The edges to assume, with their clocks. Of a run that has only started it is too early, and one that failed
        need not have written anything."""
        if self.state in {"START", "FAIL", "ABORT"}:
            return {}
        found = (claim.key for claim in assumed_claims(self._datasets, self._direct))
        return {key: max(self.inputs[key.from_id], self.outputs[key.to_id]) for key in found}

    def _is_explained_by_others(self) -> bool:
        """Whether inputs that only others name take assumptions away: a statement that leads from none of the inputs
        explains nothing."""
        if len(self.own_inputs) == len(self.inputs):
            return False
        own = self._datasets._replace(inputs=tuple(self.own_inputs))
        return len(unexplained(own, self._direct)) > len(unexplained(self._datasets, self._direct))

    def _is_too_large_to_assume(self) -> bool:
        return are_too_many(self._datasets, unexplained(self._datasets, self._direct))

    @property
    def _datasets(self) -> RunDatasets:
        return RunDatasets(tuple(self.inputs), tuple(self.outputs), tuple(self.explained))

    @property
    def _direct(self) -> Iterator[EdgeKey]:
        return (EdgeKey(start, end, "") for start, _, end in (ends.partition(">") for ends in self.stated))


def keep_facets(kept: KeptFacets, event: ClaimsEvent) -> None:
    """Adds the facets of an event: of each place the newest, and of all places the newest ones."""
    for place, facet in event.facets.items():
        known = kept.get(place)
        if known is None or known[0] < event.clock:
            kept[place] = [event.clock, facet]
    if len(kept) > MAX_FACETS:
        oldest = sorted(kept, key=lambda place: (kept[place][0], place))[: len(kept) - MAX_FACETS]
        for place in oldest:
            del kept[place]


def run_id(event: ClaimsEvent) -> RunId:
    return event.tenant, event.job_id, event.run


def add_events(
    known: Mapping[RunId, RunLineage], events: Iterable[ClaimsEvent]
) -> tuple[dict[RunId, RunLineage], list[ClaimsEvent]]:
    """The runs after these events, and the events as they count. Events without a state are not of runs."""
    runs, counting = dict(known), list[ClaimsEvent]()
    for event in events:
        if event.state:
            run = runs.setdefault(run_id(event), RunLineage())
            counts = join_query(run, event)
            run.add(counts)
            counting.append(counts)
        else:
            counting.append(event)
    return runs, counting


def _note(clocks: Clocks, names: Iterable[str], clock: str) -> None:
    for name in names:
        known = clocks.get(name)
        if known is not None or len(clocks) < MAX_DATASETS:
            clocks[name] = max(clock, known or clock)
