"""Decides what a reader of an Iceberg table must do for a user, by the policies in force and what is committed now."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from lily.api.calls import HttpCall
from lily.api.enforcement.columns import catalogued_columns, unnamed_columns
from lily.api.enforcement.recording import record
from lily.api.http.errors import Declined, forbidden, not_found
from lily.api.policy.compiled import TenantPolicies
from lily.api.policy.decisions import rules_in_force
from lily.enforce import iceberg
from lily.enforce.iceberg import Column, Field, NotExpressible
from lily.enforce.questions import Decider, Question, references
from lily.model.lanes import BULK_TYPES
from lily.policy import Context, Decision, Facts, Policy, Principal
from lily.policy.candidates import of_types, stated
from lily.store.postgres.policies.facts import Wanted


class Request(NamedTuple):
    """`fields` are those of the table's schema, if the caller states them."""

    path: tuple[str, ...]
    user: str
    groups: Sequence[str]
    fields: Sequence[Field]

    @property
    def table(self) -> str:
        return ".".join(self.path)


async def decide(call: HttpCall, request: Request) -> dict[str, Any]:
    """The read restrictions. Raises Declined with 403 if the user may not read the table, with 404 if it is not in the
    catalogue and the setting `unknown_objects` is closed, with 409 if a decision cannot be stated as a restriction;
    StoreUnavailable or LakeUnavailable if something cannot be known."""
    deciding = await _Deciding.begin(call, request)
    names = deciding.policies.trino_names.of(request.path)
    (table,) = await deciding.decide([iceberg.table_question(names)])
    assets = await deciding.assets(names)
    if not table.allowed:
        denied = forbidden(f"{request.user} may not read the table: {table.reason}", request.table)
        raise denied if of_types(assets, BULK_TYPES) else not_found(request.table, "table")
    try:
        if request.fields:
            columns = iceberg.named_columns(names, request.fields)
        else:
            iceberg.refuse_unlisted(table, await deciding.decide(iceberg.unlisted_columns(names), recorded=False))
            columns = iceberg.merged(await catalogued_columns(call, assets, deciding.named_by))
            iceberg.refuse_unnamed(table, await deciding.unnamed(assets, columns))
        decisions = await deciding.decide(iceberg.column_questions(columns, names))
        return iceberg.restrictions(table, list(zip(columns, decisions, strict=True)), request.user)
    except NotExpressible as error:
        raise Declined(409, error.problem) from error


@dataclass(frozen=True, slots=True)
class _Deciding:
    call: HttpCall
    policies: TenantPolicies
    principal: Principal
    wanted: Wanted

    @classmethod
    async def begin(cls, call: HttpCall, request: Request) -> "_Deciding":
        services = call.services
        policies = await services.policies.get(call.tenant)
        principal = await services.policies.principal(policies, request.user, request.groups)
        return cls(call, policies, principal, policies.wanted(await rules_in_force(services, call.tenant)))

    @property
    def named_by(self) -> Sequence[Policy]:
        return self.policies.index.table(self.principal, "READ", "data").policies

    async def decide(self, questions: Sequence[Question], *, recorded: bool = True) -> list[Decision]:
        known = await self.call.services.facts.candidates(self.call.tenant, references(questions), self.wanted)
        unknown_objects = self.policies.settings.unknown_objects
        decider = Decider(self.policies.index, unknown_objects, self.principal, _context(), known.facts)
        decisions = decider.decide_all(questions)
        if recorded:
            effects = Counter[str](decision.effect for decision in decisions)
            decided = zip(questions, decisions, strict=True)
            record(self.call, self.policies, self.principal.user, effects, decided)
        return decisions

    async def unnamed(self, tables: Sequence[Facts], listed: Sequence[Column]) -> list[Decision]:
        """About columns of which nothing but lineage is known, not even their names."""
        database, tenant = self.call.services.database, self.call.tenant
        found, context = await unnamed_columns(database, tenant, tables, listed, self.wanted), _context()
        return [self.policies.index.decide(self.principal, "READ", facts, context) for facts in found]

    async def assets(self, names: Sequence[str]) -> list[Facts]:
        """The assets that the table may be. One that is stated to be a column is no table, and may have its columns."""
        known = await self.call.services.facts.candidates(self.call.tenant, names, self.wanted)
        return [facts for name in names for facts in stated(known.facts[name])]


def _context() -> Context:
    """Neither the address nor the purpose of the engine's user is known, so denials that depend on them apply."""
    return Context(now=datetime.now(UTC))
