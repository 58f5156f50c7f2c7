"""`/propagation-rules`: the tenant's rules for attributes that propagate along lineage."""

from collections.abc import Mapping
from typing import Any, cast

from fastapi import APIRouter

from lily.api.calls import Anyone, Call
from lily.api.http.bodies import read_body
from lily.api.http.creating import creates
from lily.api.http.errors import Declined
from lily.api.http.openapi import examples
from lily.api.http.openapi.document import body_model
from lily.api.http.openapi.parameters import RuleName
from lily.api.http.openapi.requests import DefineRuleBody, RedefineRuleBody
from lily.api.http.openapi.responses import AttributeRule as RuleResponse
from lily.api.http.openapi.responses import AttributeRules, Errors, Json, Undefined
from lily.api.http.paging import DEFAULT, Cursor, Limit
from lily.api.routes.governance.definitions import Definitions, stated_changes, stated_edge_types, stated_name
from lily.lineage.attribute_rules import AttributeRule, Mode, rule_problem
from lily.model.assets import tag_key
from lily.model.errors import Problem, Refused
from lily.store.postgres.definitions.rules import create_attribute_rule, read_attribute_rules

router = APIRouter(tags=["attributes"])

_CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": Errors, "description": "A rule with that name, or for that attribute, exists already"}
}


async def _read(call: Call) -> Mapping[str, AttributeRule]:
    return await read_attribute_rules(call.services.database, call.tenant)


_RULES = Definitions("rule", "/propagation-rules", _read)


@router.get("/propagation-rules", responses={200: {"model": AttributeRules}})
async def rules(call: Anyone, limit: Limit = DEFAULT, cursor: Cursor = None) -> Json:
    """Returns the propagation rules, by name. An attribute without a rule does not propagate."""
    return Json(await _RULES.page(call, limit, cursor))


@creates(router, "/propagation-rules", RuleResponse, body_model(DefineRuleBody, examples.DEFINE_RULE), _CONFLICT)
async def define(call: Anyone) -> Json:
    """Creates a propagation rule: which attribute propagates, along which edges, how far, and how it merges.

    The value is written to the enriched layer of the assets it reaches, so a user's own value still takes
    precedence."""
    call.require("policy:write", "creating a propagation rule", "/propagation-rules")
    rule = _rule(await read_body(call.request, DefineRuleBody, call.services.settings.limits.body_bytes))
    if not await create_attribute_rule(call.services.database, call.principal, rule, call.correlation):
        raise _conflict(rule, await _read(call))
    await _RULES.changed(call)
    return Json(rule.as_dict(), 201)


@router.get("/propagation-rules/{name:text}", responses={200: {"model": RuleResponse}})
async def rule_named(name: RuleName, call: Anyone) -> Json:
    """Returns one propagation rule."""
    return Json(await _RULES.one(call, name))


@router.put(
    "/propagation-rules/{name:text}",
    responses={200: {"model": RuleResponse}},
    openapi_extra=body_model(RedefineRuleBody, examples.REDEFINE_RULE),
)
async def redefine(name: RuleName, call: Anyone) -> Json:
    """Changes the named fields of a propagation rule and recomputes what depends on it. The attribute of a rule cannot
    be changed; create another rule for it."""
    call.require("policy:write", "changing a propagation rule", "/propagation-rules")
    changes = await stated_changes(call, RedefineRuleBody)
    rule = await _RULES.find(call, name)
    _refuse(rule.attribute, cast("Mode", changes.get("mode", rule.mode)))
    return Json(await _RULES.update(call, rule, changes))


@router.delete("/propagation-rules/{name:text}", responses={200: {"model": Undefined}})
async def undefine(name: RuleName, call: Anyone) -> Json:
    """Deletes a propagation rule and the values that it set."""
    call.require("policy:write", "deleting a propagation rule", "/propagation-rules")
    return Json(await _RULES.delete(call, await _RULES.find(call, name)))


def _conflict(rule: AttributeRule, known: Mapping[str, AttributeRule]) -> Declined:
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
    name = stated_name(body.name)
    _refuse(body.attribute, body.mode)
    types = stated_edge_types(body.edge_types)
    return AttributeRule(tag_key(name), name, body.attribute, body.mode, body.direction, body.max_depth, types)


def _refuse(attribute: str, mode: Mode) -> None:
    problem = rule_problem(attribute, mode)
    if problem is not None:
        raise Refused(problem)
