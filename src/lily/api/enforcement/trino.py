"""Decides the requests of Trino's OPA plug-in by the policies in force and by what is committed now."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import ParamSpec, TypeVar
from weakref import ref

import orjson

from lily.api.calls import HttpCall
from lily.api.enforcement.answers import Answer, Key
from lily.api.enforcement.recording import record
from lily.api.enforcement.whole_tables import ColumnsByTable, named_columns, unnamed
from lily.api.http.bodies import parse_json
from lily.api.policy.compiled import TenantPolicies
from lily.api.policy.decisions import rules_in_force
from lily.api.policy.fact_cache import Known
from lily.enforce.questions import Decider, Question, references, whole_tables
from lily.enforce.trino import Exchange, ObjectNames, Request, parse_request
from lily.policy import Context, Decision, Facts, Principal

LARGE = 1_250  # questions that are decided in a thread, while other requests are served
QUESTION_BYTES = 100  # of a request, at least

P = ParamSpec("P")
T = TypeVar("T")
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
        request, exchange = await _in_turns(len(body) // QUESTION_BYTES, _parsed, body, ask, policies)
        return await _decided(call, policies, request, exchange, key)
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


def _parsed(body: bytes, ask: Ask, policies: TenantPolicies) -> tuple[Request, Exchange]:
    request = parse_request(parse_json(body))
    return request, ask(request, policies.trino_names)


async def _in_turns(questions: int, function: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Of a large request in a thread: other requests go on meanwhile."""
    return await asyncio.to_thread(function, *given, **named) if questions > LARGE else function(*given, **named)


async def _decided(call: HttpCall, policies: TenantPolicies, request: Request, exchange: Exchange, key: Key) -> bytes:
    questions, answer = exchange
    if not questions:
        return _body(answer, ())
    principal = await call.services.policies.principal(policies, request.user, request.groups)
    names, whole = references(questions), whole_tables(questions)
    listed = policies.index.policies.values()
    columns = await named_columns(call.services.database, call.tenant, listed, whole) if whole else {}
    known = await _known(call, policies, names.union(*columns.values()))
    columns, facts = await _with_unnamed(call, policies, columns, known) if whole else ({}, known.facts)
    # Neither the address nor the purpose of Trino's user is known, so denials that depend on them apply.
    context = Context(now=datetime.now(UTC))
    decider = Decider(policies.index, policies.settings.unknown_objects, principal, context, facts, columns)
    depends_on_time = _depends_on_time(policies, principal, questions)
    decisions = await _in_turns(len(questions), decider.decide_all, questions)
    made = Answer(
        await _in_turns(len(questions), _body, answer, decisions),
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
    if not whole and not depends_on_time:
        call.services.answers.put(key, made)
    return made.body


def _body(answer: Callable[[Sequence[Decision]], object], decisions: Sequence[Decision]) -> bytes:
    return orjson.dumps({"result": answer(decisions)})


async def _known(call: HttpCall, policies: TenantPolicies, names: set[str] | tuple[()]) -> Known:
    wanted = policies.wanted(await rules_in_force(call.services, call.tenant))
    return await call.services.facts.candidates(call.tenant, names, wanted)


def _depends_on_time(policies: TenantPolicies, principal: Principal, questions: Sequence[Question]) -> bool:
    tables = (policies.index.table(principal, action, "data") for action in {one.action for one in questions})
    return any(table.depends_on_time for table in tables)


async def _with_unnamed(
    call: HttpCall, policies: TenantPolicies, columns: ColumnsByTable, known: Known
) -> tuple[ColumnsByTable, Mapping[str, list[Facts]]]:
    """With columns of which nothing but lineage is known."""
    wanted = policies.wanted(await rules_in_force(call.services, call.tenant))
    more = await unnamed(call.services.database, call.tenant, columns, known.facts, wanted)
    return {table: [*names, *more.columns[table]] for table, names in columns.items()}, {**known.facts, **more.facts}


def _record(call: HttpCall, policies: TenantPolicies, answer: Answer) -> None:
    record(call, policies, answer.user, answer.effects, answer.decided)
