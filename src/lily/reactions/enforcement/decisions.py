"""Everything that is decided for a target: pure, from its inventory, the policies and what is known of its assets."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lily.model.engine_names import EngineMapping, qualified_name
from lily.plugins import enforcers
from lily.plugins.enforcers import Inventory, Path, PrincipalKind, TargetTable
from lily.policy import Ancestor, Context, Decision, Facts, PolicyIndex, Principal
from lily.policy.candidates import UnknownObjects, combined, decided_unknown, stated, unknown_facts
from lily.policy.names import name_key
from lily.policy.visibility import AssetSet, asset_set

SEPARATOR = "."


class Named(NamedTuple):
    """A table of the target with its names in Lily: its own, and those of its columns. Not `complete`: it may have
    other, plain columns, for which the table's decision has to hold as well. `unnamed` are columns that it may have and
    whose names nobody knows: so does what they are tagged with."""

    table: TargetTable
    name: str
    columns: tuple[str, ...]
    complete: bool = True
    unnamed: tuple[Facts, ...] = ()


class Group(NamedTuple):
    """Roles of the target for which the same policies decide, and one principal for all of them."""

    roles: tuple[str, ...]
    principal: Principal


@dataclass(frozen=True, slots=True)
class Deciding:
    """By what is decided. `candidates` has, by name, the assets that it may mean: the stricter decision holds. `kinds`
    are those of the principals, for a target that cannot be read."""

    index: PolicyIndex
    unknown_objects: UnknownObjects
    candidates: Mapping[str, Sequence[Facts]]
    context: Context
    kinds: Mapping[str, tuple[PrincipalKind, ...]] = field(default_factory=dict)
    about: dict[str, AssetSet] = field(default_factory=dict)  # by principal, what its own policies are about

    def decide(self, principal: Principal, name: str) -> Decision:
        found = self.candidates.get(name, ())
        decisions = [self._decided(principal, facts) for facts in found]
        if not stated(found):
            unknown = self._decided(principal, unknown_facts(self.index.tenant, name))
            decisions.insert(0, decided_unknown(unknown, self.unknown_objects))
        return combined(decisions)

    def decide_table(self, principal: Principal, table: Named) -> Decision:
        own = self.decide(principal, table.name)
        if table.complete:
            return own
        others = self._other_columns(table)
        return combined([own, *(self._decided(principal, facts) for facts in others)])

    def _decided(self, principal: Principal, facts: Facts) -> Decision:
        decide = self.index.restrictions if facts.restricts_only else self.index.decide
        return decide(principal, "READ", facts, self.context)

    def concerns(self, principal: Principal, table: Named) -> bool:
        """Whether a policy is about the table, or about a column of it, for this principal and not for everybody."""
        if principal.disabled:
            return True
        if principal.key not in self.about:
            everybody = {policy.id for policy in self.index.table(Principal(), "READ", "data").policies}
            own = self.index.table(principal, "READ", "data").policies
            self.about[principal.key] = asset_set([policy for policy in own if policy.id not in everybody])
        about, names = self.about[principal.key], (table.name, *table.columns)
        known = [facts for name in names for facts in self.candidates.get(name, ())]
        return any(map(about.holds, (*known, *self._other_columns(table)))) or not about.keys.isdisjoint(
            map(name_key, names)
        )

    def _other_columns(self, table: Named) -> list[Facts]:
        """What columns may be that are not listed."""
        return [*(_plain_column(facts) for facts in self.candidates.get(table.name, ())), *table.unnamed]

    def named_principals(self, names: Iterable[str]) -> tuple[tuple[str, ...], tuple[PrincipalKind, ...]]:
        """Sorted, with the kind of each; one of several kinds stands there once for each."""
        ordered = sorted(names)
        if not self.kinds:
            return tuple(ordered), ()
        pairs = [(name, kind) for name in ordered for kind in self.kinds[name]]
        return tuple(name for name, _ in pairs), tuple(kind for _, kind in pairs)

    def tags(self, name: str) -> tuple[str, ...]:
        return tuple(sorted({tag for facts in self.candidates.get(name, ()) for tag in facts.tags}))


def named(inventory: Inventory, data_source: str, mappings: Collection[EngineMapping]) -> list[Named]:
    """The names in Lily: the path with dots, or what the engine mappings of the data source make of it."""
    found = []
    for table in inventory.tables:
        engine_name = SEPARATOR.join(table.path)
        below = [f"{engine_name}{SEPARATOR}{column.name}" for column in table.columns]
        name, *columns = (qualified_name(one, data_source, mappings) for one in (engine_name, *below))
        found.append(Named(table, name, tuple(columns)))
    return found


def groups_of(index: PolicyIndex, principals: Mapping[str, Principal]) -> list[Group]:
    """A thousand roles that no policy tells apart are one group, so decisions grow with the policies and not with the
    roles. No attribute of a target's role is known, so conditions on principals do not tell them apart either. Disabled
    users are a group of their own: a stranger has no policies either, and may have what a setting opens."""
    groups: dict[tuple[bool, tuple[str, ...]], tuple[Principal, list[str]]] = {}
    for role, principal in principals.items():
        policies = tuple(policy.id for policy in index.table(principal, "READ", "data").policies)
        groups.setdefault((principal.disabled, policies), (principal, []))[1].append(role)
    return [Group(tuple(sorted(roles)), principal) for principal, roles in groups.values()]


def decisions_for(tables: Iterable[Named], groups: Sequence[Group], deciding: Deciding) -> list[enforcers.Decision]:
    """One decision per table and per column that differs from its table's, shared by the roles that have it."""
    return [decision for table in tables for decision in _of_table(table, groups, deciding)]


def digest(decisions: Iterable[enforcers.Decision]) -> bytes:
    """Of the decisions of one table. Tags are no part of it: a tag without an effect changes nothing in the target."""
    parts = sorted(repr((one.column, one.column_type, one.principals, one.kinds, *_effect(one))) for one in decisions)
    return hashlib.sha256("\n".join(parts).encode()).digest()


def _effect(decision: enforcers.Decision) -> tuple[object, ...]:
    return (decision.effect, decision.mask, decision.mask_value, decision.row_filters)


def _of_table(table: Named, groups: Sequence[Group], deciding: Deciding) -> Iterable[enforcers.Decision]:
    roles: dict[tuple[str, str, Decision], list[str]] = {}
    for group in groups:
        own = deciding.decide_table(group.principal, table)
        undecided = not (own.allowed or own.policy_id or table.complete)
        if undecided and not deciding.concerns(group.principal, table):
            continue  # a member of it and of another group has what the other one has
        roles.setdefault((table.name, "", _essence(own)), []).extend(group.roles)
        for column, name in zip(table.table.columns, table.columns, strict=True):
            decision = deciding.decide(group.principal, name)
            if _essence(decision) != _essence(own):
                roles.setdefault((name, column.name, _essence(decision)), []).extend(group.roles)
    if not (roles or table.complete):
        roles[table.name, "", Decision("deny", None, "")] = []  # without a decision it would not be enforced
    types = {column.name: column.type for column in table.table.columns} if not table.complete else {}
    for (name, below, decision), principals in roles.items():
        shown, kinds = deciding.named_principals(principals)
        yield replace(
            _shown(table.table.path, name, below, shown, decision, deciding.tags(name)),
            kinds=kinds,
            column_type=types.get(below, ""),
            columns=() if below or table.complete else table.table.columns,
            table_kind="" if table.complete else table.table.kind,
        )


def _plain_column(table: Facts) -> Facts:
    """Any column of a table that has no tags, lineage or policy of its own. Its name and attributes are unknown."""
    above = (Ancestor(table.id, table.qualified_name), *table.ancestors)
    tags, only = table.tags, table.restricts_only
    return Facts("", "", "column", table.data_source, above, tags, names_above=table.names_above, restricts_only=only)


def _essence(decision: Decision) -> Decision:
    """Without the policy and the reason: what the target has to do."""
    return Decision(decision.effect, None, "", decision.mask, decision.row_filters)


def _shown(  # noqa: PLR0917 - what a decision is made of
    path: Path, name: str, column: str, principals: tuple[str, ...], decision: Decision, tags: tuple[str, ...]
) -> enforcers.Decision:
    return enforcers.Decision(
        asset=name,
        table=path,
        principals=principals,
        effect=decision.effect,
        column=column,
        mask=decision.mask.action if decision.mask else "",
        mask_value=decision.mask.value if decision.mask else None,
        row_filters=tuple(row_filter.sql for row_filter in decision.row_filters),
        tags=tags,
    )
