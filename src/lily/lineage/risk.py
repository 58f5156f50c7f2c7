"""What incidents put at risk, recomputed from a whole graph: plain reachability."""

from collections.abc import Iterable, Mapping, Sequence

Successors = Mapping[str, Sequence[str]]  # by asset: where its edges lead, or what is below it


def assets_at_risk(own: Iterable[str], downstream: Successors, children: Successors) -> set[str]:
    """The assets of an incident, and those reached along edges from them, from what is below them, and so on. What only
    inherits the risk is left out."""
    own = list(own)
    stored, visited, rest = set(own), set[str](), own
    while rest:
        asset = rest.pop()
        if asset not in visited:
            visited.add(asset)
            reached = downstream.get(asset, ())
            stored.update(reached)
            rest += [*reached, *children.get(asset, ())]
    return stored
