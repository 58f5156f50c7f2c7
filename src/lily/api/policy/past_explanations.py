"""Checks and explanations as of a time: the decisions of then, and the tags behind them with their paths of then."""

import asyncio
from collections.abc import Mapping
from typing import Any

from lily.api.calls import Call
from lily.api.policy.checks import Batch, parse_checks
from lily.api.policy.outcomes import decision_dict
from lily.api.policy.past import PastDecisions, decide_past
from lily.api.policy.past_assets import PastAsset
from lily.api.policy.tag_paths import TagPath, explanation_dict, matching_tags, shown_paths
from lily.api.reads.as_of import read_time
from lily.model import clock
from lily.model.errors import Problem, Refused
from lily.policy import Explanation, Facts
from lily.policy.candidates import stated, strictness, unknown_facts
from lily.store.postgres.propagation.tag_paths import DerivedTagsOf, derivations_at


def given_time(given: Any) -> str:
    """Raises Refused for anything but a time of the past."""
    if not isinstance(given, str):
        raise Refused(Problem("INVALID_TYPE", "as_of must be a time such as 2026-11-15T08:36:00Z", "as_of"))
    return read_time(given)


async def check_past(call: Call, batch: Batch, as_of: str) -> dict[str, Any]:
    """The response to checks as of a time. Raises as `decide_past` does."""
    past = await decide_past(call, batch, as_of)
    explained = await asyncio.to_thread(_explained, batch, past)
    by_check = [matching_tags(facts, why) for why, facts in explained]
    wanted: dict[str, set[str]] = {}
    for check, tags in zip(batch.checks, by_check, strict=True):
        wanted.setdefault(check.asset, set()).update(tags)
    shown = {asset: await _paths(call, past, asset, tags, as_of) for asset, tags in wanted.items()}
    decisions = [
        {**decision_dict(decision), "tags": [path for tag in sorted(tags) for path in shown[check.asset][tag]]}
        for check, decision, tags in zip(batch.checks, past.decisions, by_check, strict=True)
    ]
    return {"decisions": decisions, "version": await _version(call), "as_of": as_of}


async def explain_past(call: Call, check: Mapping[str, Any]) -> dict[str, Any]:
    """Raises Refused for a check that is not one, and as `decide_past` does."""
    as_of = given_time(check["as_of"])
    batch = parse_checks([{name: value for name, value in check.items() if name != "as_of"}], clock.parse(as_of))
    past = await decide_past(call, batch, as_of)
    ((parsed,), ((explanation, facts),), (decision,)) = batch.checks, _explained(batch, past), past.decisions
    known = bool(stated(past.candidates[parsed.asset]))
    tags = matching_tags(facts, explanation)
    shown = await _paths(call, past, parsed.asset, tags, as_of)
    return {
        **await explanation_dict(call, parsed.asset, decision, facts, explanation, known=known),
        "tags": [path for tag in sorted(tags) for path in shown[tag]],
        "version": await _version(call),
        "as_of": as_of,
    }


def _explained(batch: Batch, past: PastDecisions) -> list[tuple[Explanation, Facts]]:
    """Of each check: why what the name meant, the strictest of several, is decided so."""
    return [
        min(
            (
                (past.index.explain(past.principals[who], action, facts, batch.contexts[context], plane), facts)
                for facts in _considered(past, asset)
            ),
            key=lambda one: strictness(one[0].decision),
        )
        for who, action, asset, context, plane in batch.checks
    ]


def _considered(past: PastDecisions, asset: str) -> list[Facts]:
    """What is unknown has no tags, and less to explain than what restricts it."""
    return past.candidates[asset] or [unknown_facts(past.index.tenant, asset)]


async def _paths(
    call: Call, past: PastDecisions, asset: str, tags: set[str], as_of: str
) -> dict[str, list[dict[str, Any]]]:
    """The ways of each tag to the asset, or else to what its name was below."""
    own = await _shown(call, past.assets[asset], tags, as_of)
    missing = {tag for tag, ways in own.items() if not ways}
    return own | await _shown(call, past.above[asset], missing, as_of)


async def _shown(call: Call, asset: PastAsset | None, tags: set[str], as_of: str) -> dict[str, list[dict[str, Any]]]:
    """By key, the ways in which the asset had each of the tags."""
    if asset is None or not tags:
        return {tag: [] for tag in tags}
    stated, of = asset.stated, asset.derived
    derived = DerivedTagsOf(
        asset.id,
        sorted(tag for tag in of.propagated if tag in tags and tag not in stated),
        {tag: index for tag, index in sorted(of.inherited.items()) if tag in tags and tag not in stated},
        of.ancestors,
    )
    found = [(tag, TagPath(stated[tag], "stated", (asset.id,))) for tag in sorted(tags) if tag in stated]
    through_held = [one for one in asset.inherited_through_held if tags & (one.inherited.keys() - stated.keys())]
    found += [
        (one.tag, TagPath(asset.name(one.tag), one.kind, one.path))
        for some in (derived, *through_held)
        for one in await derivations_at(call.services.database, call.tenant, some, as_of)
    ]
    shown = await shown_paths(call, [path for _, path in found])
    return {tag: [path for (key, _), path in zip(found, shown, strict=True) if key == tag] for tag in tags}


async def _version(call: Call) -> int:
    return (await call.services.policies.get(call.tenant)).version.number
