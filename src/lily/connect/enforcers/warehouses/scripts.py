"""What the plug-ins of all warehouses have in common: a plan whose steps are the statements of a script."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal

from lily.connect.enforcers.warehouses.tables import Needs, Sight, Subject, WarehouseTable, warehouse_tables
from lily.model.errors import Terminal
from lily.plugins import Decision, Drift, Failure, Finding, Inventory, Plan, Step
from lily.plugins.enforcers import Path

Verb = Literal["GRANT", "REVOKE"]
PREFIX = "lily_"  # of everything that a script makes


class Scripted(ABC):
    """Writes scripts and connects to nothing, so it has neither an inventory nor anything to verify."""

    _also_restricted: Collection[str] = ()  # what can have masks and row filters besides tables

    def inventory(self) -> Inventory | None:
        """The tables are those of the catalogue."""
        return None

    def plan(self, decisions: Sequence[Decision]) -> Plan:
        steps: list[Step] = []
        findings: list[Finding] = []
        tables = [self._placed(table, findings) for table in warehouse_tables(decisions, self._needs())]
        known = [table for table in tables if table is not None]
        steps += [Step((), text) for text in dict.fromkeys(self._prepared(known))]
        for table in known:
            restricts = table.noun == "TABLE" or table.noun in self._also_restricted
            texts = self._statements(table) if restricts else self._granted_alone(table)
            steps += [Step(table.path, text) for text in texts]
            findings += table.findings
        return Plan(tuple(steps), tuple(dict.fromkeys(findings)), by_hand=True)

    def apply(self, plan: Plan) -> Sequence[Failure]:
        raise Terminal(
            f"Lily does not connect to the warehouse. Run the script of {len(plan.steps)} statements yourself."
        )

    def verify(self, decisions: Sequence[Decision]) -> Sequence[Drift]:  # noqa: ARG002 - there is nothing to compare with
        return ()

    def remove(self) -> None:  # noqa: B027 - there is nothing to do
        """There is nothing that Lily could revert: the script of the removal does that."""

    def close(self) -> None:  # noqa: B027 - there is nothing to do
        """There is no connection."""

    def _placed(self, table: WarehouseTable, findings: list[Finding]) -> WarehouseTable | None:
        if len(table.path) == self._depth and all(table.path):
            return table
        described = f"its name must have {self._depth} parts: {self._parts}; name it so with an engine mapping"
        findings.append(Finding(table.name, f"nothing is enforced for it. {described}"))
        return None

    def _granted_alone(self, table: WarehouseTable) -> Iterator[str]:
        """Of what cannot have masks and row filters: only those may read it who may read all of it. A group may have
        members for whom something is restricted, so it may read it only if that is nobody."""
        if not table.is_withdrawn:
            made = "only grants are made" if self._with_grants else "nothing is enforced for it"
            table.note(f"it is a {table.noun.lower()}, which can have neither masks nor row filters: {made}")
        whole = [one for one, sight in table.sights.items() if _is_clear(sight)]
        if len(whole) < len(table.sights):
            whole = [subject for subject in whole if subject.kind == "user"]
        yield from self._grants(table, "REVOKE", table.sights)
        yield from self._grants(table, "GRANT", whole)

    def _grants(self, table: WarehouseTable, verb: Verb, subjects: Iterable[Subject]) -> Iterator[str]:
        """Revoked before everything else and granted last: a script that fails between leaves the table closed."""
        for subject in subjects if self._with_grants else ():
            if statement := self._grant(table, verb, subject):
                yield statement

    @property
    @abstractmethod
    def _with_grants(self) -> bool:
        """Whether the script grants and revokes."""

    @abstractmethod
    def _grant(self, table: WarehouseTable, verb: Verb, subject: Subject) -> str:
        """Empty for a subject to which nothing can be granted."""

    @property
    @abstractmethod
    def _parts(self) -> str:
        """What the name of a table consists of: `database.schema.table`."""

    @property
    def _depth(self) -> int:
        return self._parts.count(".") + 1

    @abstractmethod
    def _needs(self) -> Needs:
        """What has to be known of filters and types."""

    @abstractmethod
    def _prepared(self, tables: Sequence[WarehouseTable]) -> Iterable[str]:
        """Statements that come before those of the tables. Repeated ones are left out."""

    @abstractmethod
    def _statements(self, table: WarehouseTable) -> Iterable[str]:
        """The statements of one table, in an order that leaves it closed if one of them fails."""


def _is_clear(sight: Sight) -> bool:
    return not (sight.denied or sight.filters) and all(cell.is_clear for cell in sight.cells)


def hashed(*parts: str) -> str:
    """A short name for something that has these properties, and no others."""
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:16]


def own_name(path: Path, *parts: str) -> str:
    return PREFIX + hashed(*path, *parts)
