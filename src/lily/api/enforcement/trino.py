"""Decides the requests of Trino's OPA plug-in by the policies in force and by what is committed now."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from lily.api.calls import HttpCall
from lily.api.enforcement.recording import record
from lily.api.policy.decisions import rules_in_force
from lily.enforce.questions import Decider, Question, references
from lily.enforce.trino import Exchange, ObjectNames, Request, moved_table
from lily.policy import Context
from lily.store.postgres.policies.any_case import columns_below

Ask = Callable[[Request, ObjectNames], Exchange]


async def decide(call: HttpCall, request: Request, ask: Ask) -> Any:
    """The result that the plug-in expects. Raises StoreUnavailable if the policies in force or the tags of now cannot
    be known."""
    services, tenant = call.services, call.tenant
    policies = await services.policies.get(tenant)
    questions, answer = ask(request, policies.trino_names)
    if (moved := moved_table(request)) is not None:
        questions = [*questions, *await _columns_in_clear(call, policies.trino_names.of(moved))]
    if not questions:
        return answer(())
    principal = await services.policies.principal(policies, request.user, request.groups)
    wanted = policies.wanted(await rules_in_force(services, tenant))
    facts = await services.facts.candidates(tenant, references(questions), wanted)
    # Neither the address nor the purpose of Trino's user is known, so denials that depend on them apply.
    context = Context(now=datetime.now(UTC))
    decider = Decider(policies.index, policies.settings.unknown_objects, principal, context, facts)
    decisions = decider.decide_all(questions)
    record(call, policies, request.user, questions, decisions)
    return answer(decisions)


async def _columns_in_clear(call: HttpCall, names: Sequence[str]) -> list[Question]:
    columns = await columns_below(call.services.database, call.tenant, names)
    return [Question("READ", (column,), is_column=True, in_clear=True) for column in columns]
