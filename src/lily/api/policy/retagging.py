"""What a proposed change of tags does to assets: to those that it names, and to those that derive the tags of these."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lily.api.calls import Call
from lily.api.http.errors import not_found
from lily.api.policy.checks import normalised
from lily.lineage.retagging import Retagged
from lily.model import ids
from lily.policy import Facts
from lily.store.assets import StoredAsset
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.propagation.retagging import MAX_REGION, consequences
from lily.store.postgres.propagation.retagging import TagChange as ChangeOfTag

MAX_TAGS = 20  # followed per request; each may reach MAX_REGION assets


@dataclass(frozen=True, slots=True)
class TagChange:
    """An asset, by id or name, and the keys of the tags that it would state or no longer state."""

    asset: str
    add: frozenset[str]
    remove: frozenset[str]


@dataclass(slots=True)
class Retagging:
    """By asset, the tags that it gains and those that it loses."""

    gained: dict[str, set[str]] = field(default_factory=dict)
    lost: dict[str, set[str]] = field(default_factory=dict)

    @property
    def assets(self) -> list[str]:
        return list(self.gained | self.lost)

    def add(self, tag: str, retagged: Retagged) -> None:
        for changed, into in ((retagged.gained, self.gained), (retagged.lost, self.lost)):
            for asset_id in sorted(changed):
                into.setdefault(asset_id, set()).add(tag)

    def applied(self, facts: Facts) -> Facts:
        gained, lost = self.gained.get(facts.id), self.lost.get(facts.id)
        if not gained and not lost:
            return facts
        return Facts(
            facts.id,
            facts.qualified_name,
            facts.entity_type,
            facts.data_source,
            facts.ancestors,
            (set(facts.tags) - (lost or set())) | (gained or set()),
            facts.attributes,
            facts.names_above,
        )


async def follow_tags(call: Call, changes: Sequence[TagChange], wanted: Wanted, cut: list[str]) -> Retagging:
    """Raises Declined with 404 for an asset that does not exist. Adds to `cut` what was not followed to its end."""
    assets = {change.asset: await _asset(call, change.asset) for change in changes}
    by_id = {asset.id: asset for asset in assets.values()}
    result, by_tag = Retagging(), _by_tag(changes, assets)
    # A tag that does not propagate and that no policy names makes no difference where it is inherited.
    followed = [change for change in by_tag if change.tag in wanted.protective][:MAX_TAGS]
    for change in by_tag:
        if change not in followed:
            result.add(change.tag, Retagged(frozenset(change.add), frozenset(change.remove)))
    if len(followed) < sum(change.tag in wanted.protective for change in by_tag):
        names = ", ".join(change.tag for change in followed)
        cut.append(f"tags: only {names} were followed to other assets; state fewer tags at a time")
    for change in followed:
        found = await consequences(call.services.database, call.tenant, wanted.rules, change, by_id)
        result.add(change.tag, found.retagged)
        if not found.complete:
            cut.append(f"tags: {change.tag} was followed to the first {MAX_REGION} assets that it could reach")
    return result


def _by_tag(changes: Sequence[TagChange], assets: Mapping[str, StoredAsset]) -> list[ChangeOfTag]:
    """All changes of a tag together: an asset may derive it from several of those that lose it."""
    found: dict[str, ChangeOfTag] = {}
    for change in changes:
        asset_id = assets[change.asset].id
        for tag in sorted(change.add):
            found.setdefault(tag, ChangeOfTag(tag, set(), set())).add.add(asset_id)
        for tag in sorted(change.remove):
            found.setdefault(tag, ChangeOfTag(tag, set(), set())).remove.add(asset_id)
    return list(found.values())


async def _asset(call: Call, reference: str) -> StoredAsset:
    asset = await call.services.catalogue.find(call.tenant, ids.resolve(call.tenant, normalised(reference)))
    if asset is None:
        raise not_found(reference)
    return asset
