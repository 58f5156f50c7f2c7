"""The port `lily.enforcers`: brings one target in line with Lily's decisions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from pydantic import BaseModel

from lily.model.errors import Terminal

# `withdrawn` is for targets that cannot be read: the table is no longer enforced.
Effect = Literal["allow", "deny", "mask", "row-filter", "withdrawn"]
PrincipalKind = Literal["user", "group", "role"]
Path = tuple[str, ...]  # of a table, as the target spells it: database, schema, table


class TargetColumn(NamedTuple):
    name: str
    type: str  # as the target writes it


class TargetTable(NamedTuple):
    """Something with columns that can be read: a table, a view."""

    path: Path
    kind: str
    columns: tuple[TargetColumn, ...]


@dataclass(frozen=True, slots=True)
class TargetRole:
    """A user or a group of the target. `member_of` holds every role whose rights it has or can take on.

    `unrestricted` is the reason why the target cannot restrict it, such as "superuser"; empty for all others.
    """

    name: str
    login: bool = True
    member_of: tuple[str, ...] = ()
    unrestricted: str = ""


class Inventory(NamedTuple):
    """What the target has. Only these tables can be decided, and only these roles can be named."""

    tables: tuple[TargetTable, ...]
    roles: tuple[TargetRole, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """What some roles of the target may read of one table, or of one of its columns.

    A column without a decision of its own has its table's. A role without either is denied. A table that no decision
    names is not enforced: it is as it was before Lily. The row filters of a table's decision, combined with AND,
    exclude rows; those that a column has beyond its table's hide its value in the rows that they exclude.
    """

    asset: str  # qualified name in Lily, for reports
    table: Path
    principals: tuple[str, ...]  # roles, as the target spells them
    effect: Effect
    column: str = ""  # empty: the table
    mask: str = ""  # one of the nine actions: `show-last-4`
    mask_value: str | int | float | bool | None = None  # of `mask-to-fixed-value`; None: by the column's type
    row_filters: tuple[str, ...] = ()  # in Lily's dialect, PostgreSQL's
    tags: tuple[str, ...] = ()  # because of which it was decided
    # Only a target that cannot be read gets the following, which others read from the target itself.
    kinds: tuple[PrincipalKind, ...] = ()  # of the principals, in their order
    column_type: str = ""  # as the catalogue states it, if it does
    table_kind: str = ""  # such as `view`
    columns: tuple[TargetColumn, ...] = ()  # of a table: all that Lily knows
    version: int = 0  # of the table's decisions: it grows with every change, and stays the same if a call is repeated


class Step(NamedTuple):
    """One change of the target, as a person would read it: a GRANT, a masking view, an API call.

    The steps of one table take effect together or not at all. A step without a table prepares the target.
    """

    table: Path
    change: str


class Finding(NamedTuple):
    """What a person should know and no plan can change: a role that is missing, a table that cannot be masked."""

    subject: str  # a role or a table
    description: str


class Plan(NamedTuple):
    """The steps that lead from the target's present state to the decisions, in order. None: it is in line."""

    steps: tuple[Step, ...] = ()
    findings: tuple[Finding, ...] = ()
    by_hand: bool = False  # the changes are statements of a script that a person runs: `apply` is not called


class Failure(NamedTuple):
    """A table that is not in line after `apply`, and why. `transient`: a later plan may succeed without further help.

    What the decisions deny or mask must not be readable there either, as far as the target allows it.
    """

    table: Path
    error: str
    transient: bool


class Drift(NamedTuple):
    """Where the target does not do what was decided."""

    table: Path
    found: str
    expected: str


class TargetGone(Terminal):
    """The target refuses everything for good. Lily does not call it again until someone applies: the others of its
    errors are retried."""


class Enforcer(Protocol):
    """One target: a database, a warehouse. Constructed with its validated configuration.

    Raises Transient if a later attempt may succeed (the target does not respond); the call is then repeated with
    backoff. Raises Terminal if something has to change first (a missing privilege). Either way the target is as it
    was before the call, or `plan` finds the rest: no call leaves an asset readable that a decision denies or masks.

    A target that cannot be read, such as a receiver of messages, returns None as its inventory. The tables are then
    those of the catalogue that have the target's data source, and the principals those that policies name. Since there
    is nothing to compare with, Lily keeps in mind what was confirmed: `plan` gets all decisions of the tables that
    changed since, and of tables that are no longer enforced one with the effect `withdrawn`. `verify` is not called.

    If its plans are carried out by hand, a person confirms them. A column that a script restricted earlier, and that
    has no decision of its own any more, has then one with the effect `withdrawn` as well.
    """

    @property
    def Config(self) -> type[BaseModel]:  # noqa: N802 - a class attribute, and a class
        """A class attribute: the model of the configuration. It refuses unknown settings."""
        ...

    def inventory(self) -> Inventory | None:
        """Returns the tables and roles that the target has now, for which decisions are made; None if it cannot be
        read. Changes nothing."""
        ...

    def plan(self, decisions: Sequence[Decision]) -> Plan:
        """Compares the target with all decisions for it and returns what has to change. Changes nothing.

        Of a target that cannot be read, every given table has to change.
        """
        ...

    def apply(self, plan: Plan) -> Sequence[Failure]:
        """Carries the plan out. Idempotent: applied twice, the target is the same, and `plan` is then empty.

        Returns the tables that could not be changed, such as one that was dropped since; the others are in line. A
        target that cannot be read has confirmed them: Lily repeats what it has no confirmation of, with the same
        `version`.
        """
        ...

    def verify(self, decisions: Sequence[Decision]) -> Sequence[Drift]:
        """Returns where the target deviates from the decisions, as the target itself shows it. Changes nothing."""
        ...

    def remove(self) -> None:
        """Reverts everything that was ever applied: the target is as it was before the first `apply`. A target that
        cannot be read gets to know that nothing is enforced in it any more."""
        ...

    def close(self) -> None:
        """Closes connections. Always called; idempotent."""
        ...
