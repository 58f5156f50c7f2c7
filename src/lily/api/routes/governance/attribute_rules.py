"""`/propagation-rules`: the tenant's rules for attributes that propagate along lineage."""

from typing import Annotated, Any, cast

from fastapi import APIRouter
from pydantic import StringConstraints, TypeAdapter

from lily.api.calls import Anyone, Call
from lily.api.http import cursors
from lily.api.http.bodies import read_body
from lily.api.http.errors import Declined, not_found
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.parameters import RuleName
from lily.api.http.openapi.requests import DefineRuleBody, RedefineRuleBody
from lily.api.http.openapi.responses import AttributeRule as RuleResponse
from lily.api.http.openapi.responses import AttributeRules, Errors, Json, Undefined
from lily.api.http.paging import DEFAULT, Cursor, Limit, checked_limit
from lily.api.ingest.edge_types import edge_types
from lily.api.reads.references import normal
from lily.api.receipts.settling import decision_settled
from lily.lineage.attribute_rules import AttributeRule, Mode, rule_problem
from lily.model.assets import tag_key
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_TAG, Checker
from lily.store.postgres.definitions.decisions import delete_definition, update_definition
from lily.store.postgres.definitions.rules import create_attribute_rule, read_attribute_rules

router = APIRouter(tags=["attributes"])

KEY: TypeAdapter[str] = TypeAdapter(Annotated[str, StringConstraints(max_length=2 * MAX_TAG)])
_CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": Errors, "description": "A rule with that name, or for that attribute, exists already"}
}


@router.get("/propagation-rules", responses={200: {"model": AttributeRules}})
async def rules(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the propagation rules, by name. An attribute without a rule does not propagate."""
    _require_reader(call)
    question = (call.tenant, "propagation-rules")
    beyond = "" if cursor is None else cursors.unseal(cursor, KEY, *question)
    size = checked_limit(call, limit)
    known = await read_attribute_rules(call.services.database, call.tenant)
    found = [known[key] for key in sorted(known) if key > beyond]
    more = cursors.seal(found[size - 1].key, *question) if len(found) > size else None
    return Json({"items": [rule.as_dict() for rule in found[:size]], "next_cursor": more})


@router.post(
    "/propagation-rules",
    status_code=201,
    responses={201: {"model": RuleResponse}, **_CONFLICT},
    openapi_extra=body_model(DefineRuleBody, examples.DEFINE_RULE),
)
async def define(call: Anyone) -> Json:
    """Creates a propagation rule: which attribute propagates, along which edges, how far, and how it merges.

    The value is written to the enriched layer of the assets it reaches, so a user's own value still takes
    precedence."""
    call.require("policy:write", "creating a propagation rule", "/propagation-rules")
    body = await read_body(call.request, DefineRuleBody, call.services.settings.limits.body_bytes)
    rule = _rule(body)
    if not await create_attribute_rule(call.services.database, call.principal, rule, call.correlation):
        raise await _conflict(call, rule)
    await decision_settled(call)
    return Json(rule.as_dict(), 201)


@router.get("/propagation-rules/{name:text}", responses={200: {"model": RuleResponse}})
async def rule_named(name: RuleName, call: Anyone) -> Json:
    """Returns one propagation rule."""
    _require_reader(call)
    return Json((await _find(call, name)).as_dict())


@router.put(
    "/propagation-rules/{name:text}",
    responses={200: {"model": RuleResponse}},
    openapi_extra=body_model(RedefineRuleBody, examples.REDEFINE_RULE),
)
async def redefine(name: RuleName, call: Anyone) -> Json:
    """Changes the named fields of a propagation rule and recomputes what depends on it. The attribute of a rule cannot
    be changed; create another rule for it."""
    call.require("policy:write", "changing a propagation rule", "/propagation-rules")
    body = await read_body(call.request, RedefineRuleBody, call.services.settings.limits.body_bytes)
    changes = body.model_dump(exclude_unset=True)
    if not changes:
        raise Refused(Problem("MISSING_FIELD", "name at least one field to change", "body"))
    rule = await _find(call, name)
    _refuse(rule.attribute, cast("Mode", changes.get("mode", rule.mode)))
    if changes.get("edge_types") is not None:
        changes["edge_types"] = edge_types(changes["edge_types"])
    if not await update_definition(
        call.services.database, call.principal, "rule", rule.key, changes, correlation=call.correlation
    ):
        raise not_found(name, "rule")
    await decision_settled(call)
    return Json((await _find(call, name)).as_dict())


@router.delete("/propagation-rules/{name:text}", responses={200: {"model": Undefined}})
async def undefine(name: RuleName, call: Anyone) -> Json:
    """Deletes a propagation rule and the values that it set."""
    call.require("policy:write", "deleting a propagation rule", "/propagation-rules")
    rule = await _find(call, name)
    if not await delete_definition(
        call.services.database, call.principal, "rule", rule.key, correlation=call.correlation
    ):
        raise not_found(name, "rule")
    await decision_settled(call)
    return Json({"status": "success", "name": rule.name})


def _require_reader(call: Call) -> None:
    if not call.principal.may("policy:read"):
        call.require("metadata:read", "this call", "/propagation-rules")


async def _find(call: Call, name: str) -> AttributeRule:
    found = (await read_attribute_rules(call.services.database, call.tenant)).get(tag_key(normal(name)))
    if found is None:
        raise not_found(name, "rule")
    return found


async def _conflict(call: Call, rule: AttributeRule) -> Declined:
    known = await read_attribute_rules(call.services.database, call.tenant)
    other = next((one for one in known.values() if one.attribute == rule.attribute and one.key != rule.key), None)
    if rule.key in known or other is None:
        description = f"a rule named {rule.name} exists already; change it with PUT /propagation-rules/{rule.name}"
        return Declined(409, Problem("EXISTS", description, "name"))
    description = (
        f"the rule {other.name} already propagates {rule.attribute}; an attribute has at most one rule: "
        f"change it with PUT /propagation-rules/{other.name}, or delete it first"
    )
    return Declined(409, Problem("ATTRIBUTE_HAS_RULE", description, "attribute"))


def _rule(body: DefineRuleBody) -> AttributeRule:
    checker = Checker()
    name = checker.name(body.name, "name", MAX_TAG) or ""
    if checker.problems:
        raise Refused(*checker.problems)
    _refuse(body.attribute, body.mode)
    types = None if body.edge_types is None else frozenset(edge_types(body.edge_types))
    return AttributeRule(tag_key(name), name, body.attribute, body.mode, body.direction, body.max_depth, types)


def _refuse(attribute: str, mode: Mode) -> None:
    problem = rule_problem(attribute, mode)
    if problem is not None:
        raise Refused(problem)
