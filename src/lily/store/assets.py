"""An asset as it is stored, wherever that is, and as the contract shows it."""

from functools import cached_property
from typing import Any

import orjson

from lily.lineage.rules import LEGAL_RULES, Rules
from lily.model import clock
from lily.model.assets import NOTHING, PARENT_ID, LayerName, Reached, asset_view, fold_tag, reached_here, shown_value
from lily.model.layers import Layer
from lily.model.states import AssetState


class StoredAsset:
    """From PostgreSQL, from the lake, or joined of both. Requests that were answered together share one, and what it
    has worked out."""

    def __init__(  # noqa: PLR0917 - made for every row that is read: keywords would cost
        self,
        tenant: str,
        asset_id: str,
        qualified_name: str,
        layers: dict[LayerName, Layer],
        version: int,
        created_at: str,
        updated_at: str,
        awaits_lake: bool = False,  # noqa: FBT001
        fresh_as_of: str | None = None,
        rules: Rules = LEGAL_RULES,
        reached: Reached | None = None,
    ) -> None:
        """`reached` is None until somebody has asked what reached it from elsewhere."""
        self.tenant = tenant
        self.id = asset_id
        self.qualified_name = qualified_name
        self.layers = layers
        self.awaits_lake = awaits_lake
        self._version = version
        self._created_at = created_at  # in fixed width, as everywhere
        self._updated_at = updated_at
        self._fresh_as_of = fresh_as_of
        self._rules = rules
        self._reached = reached

    @classmethod
    def of_lake(cls, state: AssetState, fresh_as_of: str | None) -> "StoredAsset":
        """An asset that only the lake has. It is as fresh as the lake, and never less than its own newest event."""
        return cls.of_state(state, max(fresh_as_of or "", state.last))

    @classmethod
    def of_state(cls, state: AssetState, fresh_as_of: str | None, version: int = 1) -> "StoredAsset":
        """Without a version where nobody counts them."""
        return cls(
            state.tenant,
            state.id,
            state.qualified_name,
            state.layers,
            version,
            state.first,
            state.last,
            fresh_as_of=fresh_as_of,
        )

    def joined_with(self, state: AssetState | None, fresh_as_of: str | None = None) -> "StoredAsset":
        """With what the lake knows besides."""
        whole = self.state
        if state is not None:
            whole.join(state)
        return StoredAsset.of_state(whole, fresh_as_of, self._version)

    def under(self, rules: Rules, reached: Reached | None = None) -> "StoredAsset":
        """Where its tenant's rules hold, with what reached it from elsewhere where that is known."""
        return StoredAsset(
            self.tenant,
            self.id,
            self.qualified_name,
            self.layers,
            self._version,
            self._created_at,
            self._updated_at,
            self.awaits_lake,
            self._fresh_as_of,
            rules,
            reached,
        )

    @property
    def is_placed(self) -> bool:
        """Whether it is known what reached it from elsewhere."""
        return self._reached is not None

    @property
    def rules(self) -> Rules:
        return self._rules

    @property
    def parent(self) -> str | None:
        """The id of the parent that is shown."""
        return shown_value(self.layers, PARENT_ID)

    @property
    def effective(self) -> set[str]:
        """The tags that decisions use, folded."""
        return {fold_tag(tag) for tag in self.view["tags"]["effective"]}

    @property
    def reached(self) -> Reached:
        """What it derives: what reached it, without what it states itself."""
        return reached_here(self.layers, self._reached or NOTHING)

    @property
    def state(self) -> AssetState:
        """A copy, to be joined with others."""
        return AssetState(
            self.tenant, self.id, self.qualified_name, self._created_at, self._updated_at, dict(self.layers)
        )

    @cached_property
    def view(self) -> dict[str, Any]:
        source = self.layers.get("source")
        return asset_view(
            metadata_id=self.id,
            tenant_id=self.tenant,
            qualified_name=self.qualified_name,
            layers=self.layers,
            version=self._version,
            created_at=self._created_at,
            updated_at=self._updated_at,
            fresh_as_of=self._fresh_as_of or (clock.time_of(source.at) if source else self._updated_at),
            reached=self._reached or NOTHING,
            protective=self._rules.protective,
        )

    @cached_property
    def json(self) -> bytes:
        return orjson.dumps(self.view)
