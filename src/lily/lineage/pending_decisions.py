"""The statements that confirm or undo the end of something that is held (`lily.lineage.pending`).

They have authority and merge like all others: confirming ends what is held and states nothing else, undoing has a
person state again what had ended.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Literal, NamedTuple

from lily.lineage.edge_state import Conduction, EdgeState
from lily.lineage.pending import PendingId
from lily.model import clock, ids
from lily.model.assets import (
    CUT,
    DELETED,
    LAYERS,
    LayerName,
    conducting_parents,
    held_parents,
    held_tags,
    parent_id,
)
from lily.model.edge_layers import CONDUCTS, MASKING, PROPAGATES, merge_edges, stated_layer
from lily.model.edges import EDGE_LAYERS, ClaimsEvent, EdgeEvent, EdgeKey, EdgeLayer, EdgeStatement
from lily.model.events import AssetEvent
from lily.model.held import COVERS, HELD, HELD_PARENT, PARENT_ID
from lily.model.layers import Layer
from lily.model.releases import Release
from lily.model.statements import Statement

CONFIRMATION = "confirmation"  # stands for the run in an event that confirms that a job no longer claims an edge

Decision = Literal["confirm", "undo"]


class Author(NamedTuple):
    """Who decides, and the envelope of the events that follow."""

    tenant: str
    name: str
    time: str
    correlation: str = ""
    trace: str = ""

    def after(self, stated: str) -> "Author":
        """Later than what has this clock: clocks may be ahead, and a decision is about what is there."""
        return self if clock.time_of(stated) < self.time else self.just_after(stated)

    def reviewing(self, state: str) -> "Author":
        """Of a state with this clock: what is in the log and not merged yet was not reviewed."""
        return min(self, self.just_after(state), key=lambda author: author.time) if state else self

    def just_after(self, stated: str) -> "Author":
        return self._replace(time=clock.stamp(clock.parse(clock.time_of(stated)) + timedelta(microseconds=1)))


class HoldingAsset(NamedTuple):
    """The asset of a tag, a parent or a deletion. `parent_name` is that of the held parent, if it is known."""

    qualified_name: str
    entity_type: str | None
    layers: Mapping[LayerName, Layer]
    tag_name: str = ""
    parent_name: str = ""


DecidedEvent = AssetEvent | EdgeEvent | ClaimsEvent


def asset_events(one: PendingId, decision: Decision, asset: HoldingAsset, author: Author) -> list[DecidedEvent]:
    """About a tag, a parent or a deletion. None if nothing is held any more."""
    if decision == "undo":
        return [_asset_event(asset, author.after(_newest(asset.layers)), "user", **_undoing(one, asset))]
    layers = asset.layers
    releases = {
        "tag": lambda: releases_of_tag(layers, one.keys[1]),
        "parent": lambda: releases_of_parent(layers, one.keys[1]),
        "deletion": lambda: releases_of_deletion(layers),
    }[one.kind]()
    return [
        _asset_event(asset, _reviewing(layers, layer, author, after), layer, operation="release", release=release)
        for layer, release, after in releases
    ]


def edge_events(
    one: PendingId, decision: Decision, state: EdgeState, author: Author, held_at: str = "", *, ended_at: str = ""
) -> list[DecidedEvent]:
    """About an edge, or about a claim that is held with that clock and ended at that time."""
    if decision == "undo":
        undoing = restored(state)
        return [_edge_event(one.edge, undoing, author.after(undoing.after))]
    if one.kind == "edge":
        return [
            _edge_event(one.edge, stated, author.reviewing(stated.after).after(stated.after))
            for stated in restatements(state)
        ]
    author = author.reviewing(max(held_at, ended_at)).after(held_at)
    return [
        ClaimsEvent(
            ids.event_id(),
            author.time,
            author.tenant,
            one.keys[0],
            CONFIRMATION,
            complete=False,
            claims=(),
            by=author.name,
            authorised=True,
            released=(one.edge,),
            correlation=author.correlation,
            trace=author.trace,
        )
    ]


def comes_too_early(events: Iterable[DecidedEvent], author: Author) -> bool:
    """Whether what is to end is dated in the future, as a clock that is ahead may. Its end would be later still, and
    would end also what others state until then: the merge knows times, and not which came first. So it has to wait."""
    return any(event.time > author.time for event in events)


def _reviewing(layers: Mapping[LayerName, Layer], layer: LayerName, author: Author, after: str) -> Author:
    """Of a parent that only the graph knows there is no clock, so its end is of now."""
    return author.reviewing(layers[layer].at).after(after) if after else author


def _undoing(one: PendingId, asset: HoldingAsset) -> dict[str, Any]:
    if one.kind == "tag":
        return {"operation": "tag", "tag": asset.tag_name or one.keys[1]}
    if one.kind == "parent":
        return {"operation": "upsert", "attributes": {"parent": asset.parent_name or one.keys[1]}}
    return {"operation": "restore"}


def _asset_event(asset: HoldingAsset, author: Author, layer: LayerName, **stated: Any) -> DecidedEvent:
    about = {"attributes": {}, **stated}
    statement = Statement(
        layer,
        qualified_name=asset.qualified_name,
        entity_type=asset.entity_type,
        by=author.name,
        authorised=True,
        **about,
    )
    return AssetEvent(
        ids.event_id(), author.time, author.tenant, statement, correlation=author.correlation, trace=author.trace
    )


def _edge_event(key: EdgeKey, restated: "EdgeRestatement", author: Author) -> DecidedEvent:
    layer, operation, settings, _ = restated
    statement = EdgeStatement(layer, operation, key, settings, author.name, authorised=True)
    return EdgeEvent(
        ids.event_id(), author.time, author.tenant, statement, correlation=author.correlation, trace=author.trace
    )


_LAST = "~"  # a clock after all others


class LayerRelease(NamedTuple):
    layer: LayerName
    release: Release
    after: str  # the clock of what ends


def releases_of_tag(layers: Mapping[LayerName, Layer], tag: str) -> list[LayerRelease]:
    """A release in each layer that holds the tag."""
    return [
        LayerRelease(name, Release("tag", tag), layers[name].clock_of(HELD + tag) or "")
        for name in LAYERS
        if name in layers and tag in held_tags(layers[name])
    ]


def releases_of_parent(layers: Mapping[LayerName, Layer], parent: str) -> list[LayerRelease]:
    """A release in each layer that holds the parent. Where a layer still states it below the one whose parent is shown,
    the person who stated that one decides about the layers below from now on."""
    found: list[LayerRelease] = []
    shown = parent_id(layers)
    for name in LAYERS:
        fields = layers[name].fields if name in layers else {}
        if HELD_PARENT + parent in fields:
            after = layers[name].clock_of(HELD_PARENT + parent) or ""
            found.append(LayerRelease(name, Release("parent", parent), after))
        if fields.get(PARENT_ID) == parent != shown:
            covering = next(
                other
                for other in reversed(LAYERS)
                if other in layers and layers[other].fields.get(PARENT_ID) is not None
            )
            found.append(LayerRelease(covering, Release("covered"), layers[covering].clock_of(COVERS) or ""))
    # Of an asset whose state in the lake is not promoted yet, only the graph may know the parent.
    return list(dict.fromkeys(found)) or [LayerRelease("source", Release("parent", parent), "")]


def parents_ended_with(layers: Mapping[LayerName, Layer], parent: str) -> set[str]:
    """The other held parents that end if the end of this one is confirmed: a layer that covers those below covers all
    of their parents."""
    covering = [one.layer for one in releases_of_parent(layers, parent) if one.release.kind == "covered"]
    if not covering:
        return set()
    above = LAYERS[LAYERS.index(covering[0]) :]
    remaining = {one for name in above if name in layers for one in conducting_parents(layers[name])}
    return held_parents(layers) - remaining - {parent}


def releases_of_deletion(layers: Mapping[LayerName, Layer]) -> list[LayerRelease]:
    """A release in each layer that deletes the asset."""
    return [
        LayerRelease(name, Release("deletion"), layers[name].clock_of(CUT) or "")
        for name in LAYERS
        if name in layers and layers[name].fields.get(DELETED) is True
    ]


class EdgeRestatement(NamedTuple):
    """What is to be stated about an edge, with authority."""

    layer: EdgeLayer
    operation: Literal["upsert", "delete"]
    settings: dict[str, bool | None]
    after: str  # the clock of what it replaces


def restatements(state: EdgeState) -> list[EdgeRestatement]:
    """What confirms the end of an edge: each layer that conducts more than it shows states again what it shows. If
    something is still unmasked by what others state, a person states that it is masked."""
    found = [
        _restated(name, state.layers[name])
        for name in EDGE_LAYERS
        if name in state.layers and any(field.startswith(CONDUCTS) for field in state.layers[name].fields)
    ]
    if _is_still_held(state, found):
        unstated = EdgeRestatement("user", "upsert", {}, _newest(state.layers))
        user = next((one for one in found if one.layer == "user"), unstated)
        found = [one for one in found if one.layer != "user"]
        found.append(user._replace(settings={**user.settings, MASKING: True}))
    return found


def restored(state: EdgeState) -> EdgeRestatement:
    """What undoes the end of an edge: a person states that it exists, lets tags pass and is not masked."""
    shown = state.effective
    settings: dict[str, bool | None] = {}
    if not shown.propagates:
        settings[PROPAGATES] = True
    if state.conduction == Conduction.ALL and (shown.masking or shown.is_deleted):
        settings[MASKING] = False
    return EdgeRestatement("user", "upsert", settings, _newest(state.layers))


def _restated(name: EdgeLayer, layer: Layer) -> EdgeRestatement:
    stated = {key: layer.fields.get(key) for key in (PROPAGATES, MASKING) if layer.clock_of(key) is not None}
    return EdgeRestatement(name, "delete" if layer.fields.get(DELETED) else "upsert", stated, layer.at)


def _newest(layers: Mapping[Any, Layer]) -> str:
    return max((layer.at for layer in layers.values()), default="")


def _is_still_held(state: EdgeState, restated: list[EdgeRestatement]) -> bool:
    """Whether it would conduct more than it shows after these statements, apart from claims, which are confirmed by
    themselves: a person's edge is shown as masked where everything else masks it, and needs authority to be so."""
    layers = dict(state.layers)
    for layer, operation, settings, _ in restated:
        stated = stated_layer(_LAST, settings, deleted=operation == "delete", authorised=True)
        layers[layer] = merge_edges(layers[layer], stated)
    return EdgeState(layers, state.claims._replace(held=Conduction.NOTHING)).is_held
