"""What explanations show, of now and of the past: the decision, and the paths of the tags by which policies match."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lily.api.auth.authorisation import denials, denied_references
from lily.api.calls import Call
from lily.api.policy.outcomes import decision_dict
from lily.model import ids
from lily.model.assets import tag_key
from lily.policy import Decision, Explanation, Facts
from lily.policy.names import EVERY


class TagPath(NamedTuple):
    tag: str  # its name
    layer: str  # stated, propagated or inherited
    path: tuple[str, ...]  # the asset that states it first


def matching_tags(facts: Facts, explanation: Explanation) -> set[str]:
    """The keys of the tags by which policies match the asset."""
    named = {tag_key(match.resource.value) for match in explanation.matches if match.resource.kind == "tag"}
    return set(facts.tags) if EVERY in named else named & set(facts.tags)


async def explanation_dict(
    call: Call, reference: str, decision: Decision, facts: Facts, explanation: Explanation, *, known: bool
) -> dict[str, Any]:
    """The name of an asset that was named by its id is left out if a policy denies the asset to the caller."""
    by_id = ids.looks_like_uuid(reference)
    denied = await denied_references(call, "READ", [facts.id]) if by_id else {}
    return {
        **decision_dict(decision),
        "metadata_id": facts.id,
        "qualified_name": "" if denied else facts.qualified_name,
        "known": known,
        "subjects": [list(held.steps) for held in explanation.subjects],
        "matches": [match.as_dict() for match in explanation.matches],
    }


async def shown_paths(call: Call, paths: Sequence[TagPath]) -> list[dict[str, Any]]:
    """With the names of the assets; null for one that only the lake has, and for one that a policy denies to the
    caller."""
    steps = sorted({step for found in paths for step in found.path})
    known = await call.services.reader.find_many(call.tenant, steps) if steps else {}
    denied = await denials(call, "READ", list(known.values()))
    return [
        {
            "tag": tag,
            "layer": layer,
            "path": list(path),
            "names": [known[step].qualified_name if step in known and step not in denied else None for step in path],
        }
        for tag, layer, path in paths
    ]
