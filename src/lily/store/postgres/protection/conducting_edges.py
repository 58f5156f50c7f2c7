"""Edges along which a protective tag passes: who deletes, blocks or masks one takes the tag away from what follows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, LiteralString, NamedTuple

from psycopg import sql

from lily.model.assets import DELETED
from lily.model.edges import EdgeEvent, EdgeKey, EdgeLayer, EdgeStatement
from lily.model.errors import Problem
from lily.model.layers import Layer, merge
from lily.store.postgres.queries import query

# Whether a deleted asset cuts: the pipeline reads the tenants, the serving role asks for its own.
CUT_OF_ANY: LiteralString = "(select t.on_delete = 'cut' from tenants t where t.id = a.tenant_id)"
CUT_OF_OWN: LiteralString = "(select s.on_delete = 'cut' from tenant_settings() s)"

Effect = str  # edge.deleted, edge.blocked or edge.masked


class Shown(NamedTuple):
    """What an edge amounts to: the generated columns of `edges`."""

    propagates: bool
    masking: bool
    is_deleted: bool


@dataclass(slots=True)
class Conducting:
    """An edge as it is stored, and the tags that pass it, each with whether masking would stop it."""

    layers: dict[EdgeLayer, Layer]
    claimed: bool
    claims_mask: bool
    tags: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Sequence[Any]) -> "Conducting":
        layers: dict[EdgeLayer, Layer] = {}
        if row[0] is not None:
            layers["source"] = Layer(*row[:3])
        if row[3] is not None:
            layers["user"] = Layer(*row[3:6])
        return cls(layers, row[6], row[7], row[8])

    @property
    def shown(self) -> Shown:
        source = self.layers["source"].fields if "source" in self.layers else {}
        user = self.layers["user"].fields if "user" in self.layers else {}
        unstated = source.get(DELETED, True)
        masked = (not self.claimed or self.claims_mask) and (
            source.get("masking", False) or (self.claimed and unstated)
        )
        return Shown(
            user.get("propagates", source.get("propagates", True)),
            user.get("masking", masked),
            user.get(DELETED, not self.claimed and unstated),
        )

    def lost_by(self, event: EdgeEvent) -> Effect | None:
        """What the event would do to the tags that pass; None where all of them still do."""
        return self._stops(self._after(event)) if self.tags else None

    def lost_by_claims(self, *, claimed: bool) -> Effect | None:
        """What is lost where no claim is left, or where those that are left mask."""
        return self._stops(Conducting(self.layers, claimed, claims_mask=claimed)) if self.tags else None

    def take(self, event: EdgeEvent) -> None:
        self.layers = self._after(event).layers

    def _after(self, event: EdgeEvent) -> "Conducting":
        name, stated = event.statement.layer, event.layer()
        known = self.layers.get(name)
        merged: dict[EdgeLayer, Layer] = {name: stated if known is None else merge(known, stated)}
        return Conducting(self.layers | merged, self.claimed, self.claims_mask)

    def _stops(self, after: "Conducting") -> Effect | None:
        was, now = self.shown, after.shown
        if was.is_deleted or not was.propagates:
            return None  # taken away before, by somebody who might
        if now.is_deleted:
            return "edge.deleted"
        if not now.propagates:
            return "edge.blocked"
        return "edge.masked" if now.masking and not was.masking and any(self.tags.values()) else None


def takes_away(statement: EdgeStatement) -> bool:
    """Whether a statement could take a tag away at all; most cannot, and need no look at the edge."""
    settings = statement.settings
    return (
        statement.operation == "delete"
        or settings.get("propagates", True) is not True
        or settings.get("masking", False) is not False
    )


def named(key: EdgeKey) -> str:
    return f"{key.from_id}→{key.to_id} {key.type}"


def protected(effect: Effect, key: EdgeKey) -> Problem:
    description = f"a protective tag passes here, so {effect} needs the scope policy:write"
    return Problem("PROTECTED", description, named(key))


@cache
def conducting_query(cut: LiteralString) -> sql.Composed:
    return sql.SQL(query("protection/conducting")).format(cut=sql.SQL(cut))


def asked(edges: Sequence[tuple[str, EdgeKey]]) -> dict[str, Any]:
    """The edges as parameters, numbered; the answer names the numbers."""
    return {
        "numbers": list(range(len(edges))),
        "tenants": [tenant for tenant, _ in edges],
        "froms": [key.from_id for _, key in edges],
        "tos": [key.to_id for _, key in edges],
        "types": [key.type for _, key in edges],
    }


def answered(
    edges: Sequence[tuple[str, EdgeKey]], rows: Sequence[Sequence[Any]]
) -> Iterator[tuple[tuple[str, EdgeKey], Conducting]]:
    return ((edges[row[0]], Conducting.of(row[1:])) for row in rows)
