"""Responses to engines, kept for requests that are repeated to the letter: the same query of the same user is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from weakref import ReferenceType

from lily.api.policy.compiled import TenantPolicies
from lily.api.policy.fact_cache import Known
from lily.enforce.questions import Question
from lily.policy import Decision, Facts, Principal

MAX_BYTES = 64 << 20  # kept by one process
ENTRY_BYTES = 1_000  # of an answer beside its body
FACT_BYTES = 100  # of a name that it rests on; the facts are those that are kept anyhow
LOGGED_BYTES = 16  # of a decision that is kept for the log


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, and what it rests on. It is valid as long as each of these is the same: the policies (a change is a
    new object, and an answer does not keep the old one), the principal's `key`, and the `facts` of each name, which are
    the same objects if they were read again and had not changed. In the `generation` in which it was last valid, it
    still is.

    `decided` is empty unless decisions are logged.
    """

    body: bytes
    policies: ReferenceType[TenantPolicies]
    user: str
    groups: tuple[str, ...]
    principal: str
    generation: int
    facts: Mapping[str, list[Facts]] = field(repr=False)
    effects: Mapping[str, int]
    decided: Sequence[tuple[Question, Decision]] = ()

    def is_by(self, policies: TenantPolicies) -> bool:
        return self.policies() is policies

    def rests_on(self, principal: Principal, known: Known) -> bool:
        if self.principal != principal.key:
            return False
        now = known.facts
        return self.generation == known.generation or all(_same(now.get(name), one) for name, one in self.facts.items())

    @property
    def size(self) -> int:
        return ENTRY_BYTES + len(self.body) + FACT_BYTES * len(self.facts) + LOGGED_BYTES * len(self.decided)


def _same(now: Sequence[Facts] | None, then: Sequence[Facts]) -> bool:
    return now is then or (now is not None and len(now) == len(then) and all(map(is_, now, then)))


Key = tuple[str, object, bytes]  # tenant, address, digest of the request


@dataclass(slots=True)
class AnswerCache:
    """Bounded by the bytes that it keeps; the answer that was not used for longest goes first."""

    most: int = MAX_BYTES
    size: int = field(default=0, init=False)
    _kept: dict[Key, Answer] = field(default_factory=dict, init=False)

    def get(self, key: Key) -> Answer | None:
        found = self._kept.pop(key, None)
        if found is not None:
            self._kept[key] = found  # the last is the one that was used last
        return found

    def put(self, key: Key, answer: Answer) -> None:
        self._drop(key)
        if answer.size <= self.most:
            self._kept[key] = answer
            self.size += answer.size
        while self.size > self.most:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: Key) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self.size -= found.size
