"""An asset as stored in PostgreSQL, in the lake, or in both, and its public representation."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import orjson

from lily.lineage.tag_rules import DEFAULT_TAG_RULES, TagRules
from lily.model.assets import (
    NO_DERIVED_TAGS,
    DerivedTags,
    LayerName,
    asset_view,
    parent_id,
    tag_key,
    without_stated,
)
from lily.model.layers import Layer
from lily.model.states import AssetState


class StoredAsset:
    """Requests that are served by one query share an instance, and with it the cached view and JSON."""

    def __init__(  # noqa: PLR0917 - called for every row read: keywords would cost
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
        rules: TagRules = DEFAULT_TAG_RULES,
        derived: DerivedTags | None = None,
        at_risk: Sequence[str] = (),
    ) -> None:
        """`derived` is None until the derived tags have been read, and with them the incidents that put it at risk."""
        self.tenant = tenant
        self.id = asset_id
        self.qualified_name = qualified_name
        self.layers = layers
        self.awaits_lake = awaits_lake
        self._version = version
        self._created_at = created_at
        self._updated_at = updated_at
        self._fresh_as_of = fresh_as_of
        self._rules = rules
        self._derived = derived
        self._at_risk = at_risk

    @classmethod
    def of_lake(cls, state: AssetState, fresh_as_of: str | None) -> "StoredAsset":
        """An asset that only the lake has. It is as fresh as the lake, or as its own newest event."""
        return cls.of_state(state, max(fresh_as_of or "", state.last))

    @classmethod
    def of_state(cls, state: AssetState, fresh_as_of: str | None, version: int = 1) -> "StoredAsset":
        """The lake counts no versions, so an asset from there has version 1."""
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

    def merged_with(self, state: AssetState | None, fresh_as_of: str | None = None) -> "StoredAsset":
        """This asset merged with its state in the lake."""
        whole = self.state
        if state is not None:
            whole.merge(state)
        return StoredAsset.of_state(whole, fresh_as_of, self._version)

    def with_tag_rules(
        self, rules: TagRules, derived: DerivedTags | None = None, at_risk: Sequence[str] = ()
    ) -> "StoredAsset":
        """This asset with its tenant's tag rules and, if they are known, its derived tags and the incidents that put it
        at risk."""
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
            derived,
            at_risk,
        )

    @property
    def has_derived_tags(self) -> bool:
        """Whether its derived tags have been read."""
        return self._derived is not None

    @property
    def rules(self) -> TagRules:
        return self._rules

    @property
    def parent(self) -> str | None:
        """The id of the shown parent."""
        return parent_id(self.layers)

    @property
    def effective(self) -> set[str]:
        """The keys of the tags in effect."""
        return {tag_key(tag) for tag in self.view["tags"]["effective"]}

    @property
    def derived_tags(self) -> DerivedTags:
        """Without the tags that it states itself."""
        return without_stated(self.layers, self._derived or NO_DERIVED_TAGS)

    @property
    def state(self) -> AssetState:
        """A copy that can be merged with other states."""
        return AssetState(
            self.tenant, self.id, self.qualified_name, self._created_at, self._updated_at, dict(self.layers)
        )

    @cached_property
    def view(self) -> dict[str, Any]:
        return asset_view(
            metadata_id=self.id,
            tenant_id=self.tenant,
            qualified_name=self.qualified_name,
            layers=self.layers,
            derived=self._derived or NO_DERIVED_TAGS,
            version=self._version,
            created_at=self._created_at,
            updated_at=self._updated_at,
            fresh_as_of=max(self._fresh_as_of or "", self._updated_at),
            protective=self._rules.protective,
            names=self._rules.names,
            at_risk=self._at_risk,
        )

    @cached_property
    def json(self) -> bytes:
        return orjson.dumps(self.view)
