"""What an engine wants to do, as questions for the policies, and how they are decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from lily.model import ids
from lily.model.lanes import BULK_TYPES
from lily.policy import ACTIONS, Action, Context, Decision, Facts, PolicyIndex, Principal
from lily.policy.candidates import (
    UnknownObjects,
    combined,
    decided_unknown,
    of_types,
    restricting,
    stated,
    unknown_facts,
)

Names = tuple[str, ...]  # the qualified names that an engine's object may have: one, unless mappings disagree
# known: the object itself; the setting `unknown_objects` decides what is not in the catalogue.
# strict: the same, but what is not in the catalogue is denied.
# new: the object may not exist yet; the nearest object above it that is in the catalogue decides.
# container: a catalogue or schema, which shows nothing but names. Visible unless a policy denies it, if any policy
#   allows the principal something.
Rule = Literal["known", "strict", "new", "container"]


class Question(NamedTuple):
    """May the principal do this to that object? `above` are the objects that contain it, the nearest first; of a column
    its table, where its name does not show which that is."""

    action: Action
    names: Names
    rule: Rule = "known"
    above: tuple[Names, ...] = ()
    is_column: bool = False
    in_clear: bool = False  # a mask or a row filter counts as a denial, because the engine could not apply it
    whole: Names = ()  # tables that must be readable as they are, with all their columns


@dataclass(frozen=True, slots=True)
class Decider:
    """Decides the questions of one request. `facts` has the assets of every name that `references` lists, `columns` the
    names of the columns of every table that has to be readable as a whole; `facts` has these too."""

    index: PolicyIndex
    unknown_objects: UnknownObjects
    principal: Principal
    context: Context
    facts: Mapping[str, Sequence[Facts]]
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def decide_all(self, questions: Sequence[Question]) -> list[Decision]:
        """One decision per question, in order."""
        facts, principal, context, decide = self.facts, self.principal, self.context, self.decide
        reads = self.index.table(principal, "READ", "data")
        decisions = []
        for question in questions:
            action, names, _, above, is_column, in_clear, _ = question
            # Almost every question is about reading a column that one asset is: a wide table has thousands.
            if (
                is_column
                and action == "READ"
                and not in_clear
                and not above
                and len(names) == 1
                and len(found := facts[names[0]]) == 1
                and not found[0].restricts_only
            ):
                decisions.append(reads.decide(principal, found[0], context))
            else:
                decisions.append(decide(question))
        return decisions

    def decide(self, question: Question) -> Decision:
        decision = self._decided(question)
        if decision.allowed and (question.in_clear or question.action != "READ") and decision.effect != "allow":
            return _restricted(decision)
        hidden = self._hidden(question.whole) if decision.allowed and question.whole else None
        return decision if hidden is None else _restricted(hidden)

    def _hidden(self, tables: Names) -> Decision | None:
        """The first decision by which something of the tables is not shown as it is. Of a table that is not in the
        catalogue nothing is hidden, unless a policy names it."""
        for table in tables:
            about = Question("READ", (table,))
            if table not in self.columns:
                return Decision("deny", None, "the columns of a table that the request needs as a whole are not known")
            columns = [Question("READ", (column,), is_column=True) for column in self.columns[table]]
            decisions = (self._decided(question) for question in columns)
            for decision in (self._about(table, about, "open"), *decisions):
                if decision.effect != "allow":
                    return decision
        return None

    def _decided(self, question: Question) -> Decision:
        if question.rule == "container":
            return self._container(question)
        if question.rule == "new":
            return self._new(question)
        unknown: UnknownObjects = "closed" if question.rule == "strict" else self.unknown_objects
        return combined([*(self._about(name, question, unknown) for name in question.names), *self._as_table(question)])

    def _as_table(self, question: Question) -> list[Decision]:
        """The decisions about the tables that a column is certainly in."""
        tables = [name for names in question.above for name in names] if question.is_column else []
        found = [facts for name in tables for facts in of_types(stated(self.facts[name]), BULK_TYPES)]
        decisions = [self._by_policies(question.action, facts) for facts in found]
        return [*decisions, *(one for name in tables for one in self._restrictions(name, question, is_column=False))]

    def _about(self, name: str, question: Question, unknown_objects: UnknownObjects) -> Decision:
        candidates = self._candidates(name, question)
        decisions = [self._by_policies(question.action, facts) for facts in candidates]
        if not decisions:
            decisions = [decided_unknown(self._unknown(name, question.action), unknown_objects)]
        return combined([*decisions, *self._restrictions(name, question, is_column=question.is_column)])

    def _restrictions(self, name: str, question: Question, *, is_column: bool) -> list[Decision]:
        """What policies restrict of what the name is below, and of the assets that have the name of a table and the
        type of a column: who may ingest an asset states its type, and must not lift a restriction by stating another.
        """
        found = self.facts[name]
        only = (
            restricting(found) if is_column else [f for f in found if f.restricts_only or f.entity_type in BULK_TYPES]
        )
        return [self.index.restrictions(self.principal, question.action, one, self.context) for one in only]

    def _candidates(self, name: str, question: Question) -> Sequence[Facts]:
        """A table called `a.b` must not count as the column `b` of the table `a`."""
        found = stated(self.facts[name])
        return found if question.is_column or not found else of_types(found, BULK_TYPES)

    def _by_policies(self, action: Action, facts: Facts) -> Decision:
        return self.index.decide(self.principal, action, facts, self.context, "data")

    def _unknown(self, name: str, action: Action) -> Decision:
        return self._by_policies(action, unknown_facts(self.index.tenant, name))

    def _new(self, question: Question) -> Decision:
        for names in (question.names, *question.above):
            candidates = [facts for name in names for facts in self._candidates(name, question)]
            if candidates:
                return combined([self._by_policies(question.action, facts) for facts in candidates])
            for decision in (self._unknown(name, question.action) for name in names):
                if decision.policy_id is not None and not decision.allowed:
                    return decision
        return self._about(question.names[0], question, self.unknown_objects)

    def _container(self, question: Question) -> Decision:
        if not self._may_anything():
            return Decision("deny", None, "no policy allows anything of the data")
        for name in question.names:
            known = self._candidates(name, question) or (unknown_facts(self.index.tenant, name),)
            decisions = [self._by_policies(question.action, facts) for facts in known]
            for decision in (*decisions, *self._restrictions(name, question, is_column=False)):
                if decision.policy_id is not None and not decision.allowed:
                    return decision
        return Decision("allow", None, "it shows nothing but names, and no policy denies it")

    def _may_anything(self) -> bool:
        if self.unknown_objects == "open":
            return True
        tables = (self.index.table(self.principal, action, "data") for action in ACTIONS)
        return any(policy.effect == "allow" for table in tables for policy in table.policies)


def references(questions: Sequence[Question]) -> set[str]:
    """The names whose assets `Decider` needs."""
    found: set[str] = set()
    for question in questions:
        found.update(question.names, question.whole)
        for names in question.above:
            found.update(names)
    return found


def in_doubt(column: str, tables: Names) -> tuple[Names, ...]:
    """The tables of a column whose name has a separator. By its qualified name `t.a.b` alone, it would be a column of
    the table `t.a`, which anyone may ingest who may ingest assets."""
    return (tables,) if any(mark in column for mark in ids.SEPARATORS) else ()


def whole_tables(questions: Sequence[Question]) -> set[str]:
    """The names of the tables whose columns `Decider` needs."""
    return {name for question in questions for name in question.whole}


def _restricted(decision: Decision) -> Decision:
    reason = f"{decision.reason}; it would have to be allowed without restriction"
    return Decision("deny", decision.policy_id, reason)
