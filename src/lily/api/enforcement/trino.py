"""Decides the requests of Trino's OPA plug-in by the policies in force and by what is committed now."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from weakref import ref

import orjson

from lily.api.calls import HttpCall
from lily.api.enforcement.answers import Answer, Key
from lily.api.enforcement.recording import record
from lily.api.http.bodies import parse_json
from lily.api.policy.compiled import TenantPolicies
from lily.api.policy.decisions import rules_in_force
from lily.api.policy.fact_cache import Known
from lily.enforce.questions import Decider, Question, references
from lily.enforce.trino import Exchange, ObjectNames, Request, moved_table, parse_request
from lily.policy import Context, Principal
from lily.store.postgres.policies.any_case import columns_below

Ask = Callable[[Request, ObjectNames], Exchange]


async def respond(call: HttpCall, body: bytes, ask: Ask) -> bytes:
    """The response that the plug-in expects. Raises StoreUnavailable if the policies in force or the tags of now cannot
    be known, Refused if it is not a request of the plug-in.

    A response is used again for the same request as long as all that it rests on is the same, which is compared with
    what is in force and committed now, as it is for a request that is decided."""
    answers = call.services.answers
    policies = await call.services.policies.get(call.tenant)
    key = (call.tenant, ask, hashlib.sha256(body).digest())
    kept = answers.get(key)
    known = await _unchanged(call, policies, kept) if kept else None
    if kept is None or known is None:
        return await _decided(call, policies, parse_request(parse_json(body)), ask, key)
    if kept.generation != known.generation:
        answers.put(key, replace(kept, generation=known.generation))
    _record(call, policies, kept)
    return kept.body


async def _unchanged(call: HttpCall, policies: TenantPolicies, kept: Answer) -> Known | None:
    """What is known now, if the answer still rests on it."""
    if not kept.is_by(policies):
        return None
    principal = await call.services.policies.principal(policies, kept.user, kept.groups)
    known = await _known(call, policies, ())
    return known if kept.rests_on(principal, known) else None


async def _decided(call: HttpCall, policies: TenantPolicies, request: Request, ask: Ask, key: Key) -> bytes:
    questions, answer = ask(request, policies.trino_names)
    moved = moved_table(request)
    if moved is not None:
        questions = [*questions, *await _columns_in_clear(call, policies.trino_names.of(moved))]
    if not questions:
        return _body(answer(()))
    principal = await call.services.policies.principal(policies, request.user, request.groups)
    names = references(questions)
    known = await _known(call, policies, names)
    # Neither the address nor the purpose of Trino's user is known, so denials that depend on them apply.
    context = Context(now=datetime.now(UTC))
    decider = Decider(policies.index, policies.settings.unknown_objects, principal, context, known.facts)
    decisions = decider.decide_all(questions)
    made = Answer(
        _body(answer(decisions)),
        ref(policies),
        request.user,
        request.groups,
        principal.key,
        known.generation,
        {name: known.facts[name] for name in names},
        Counter([decision.effect for decision in decisions]),
        list(zip(questions, decisions, strict=True)) if policies.settings.logged_share else (),
    )
    _record(call, policies, made)
    if moved is None and not _depends_on_time(policies, principal, questions):
        call.services.answers.put(key, made)
    return made.body


def _body(result: object) -> bytes:
    return orjson.dumps({"result": result})


async def _known(call: HttpCall, policies: TenantPolicies, names: set[str] | tuple[()]) -> Known:
    wanted = policies.wanted(await rules_in_force(call.services, call.tenant))
    return await call.services.facts.candidates(call.tenant, names, wanted)


def _depends_on_time(policies: TenantPolicies, principal: Principal, questions: Sequence[Question]) -> bool:
    tables = (policies.index.table(principal, action, "data") for action in {one.action for one in questions})
    return any(table.depends_on_time for table in tables)


async def _columns_in_clear(call: HttpCall, names: Sequence[str]) -> list[Question]:
    columns = await columns_below(call.services.database, call.tenant, names)
    return [Question("READ", (column,), is_column=True, in_clear=True) for column in columns]


def _record(call: HttpCall, policies: TenantPolicies, answer: Answer) -> None:
    record(call, policies, answer.user, answer.effects, answer.decided)
