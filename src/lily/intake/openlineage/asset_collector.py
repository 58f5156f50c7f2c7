"""Collects the assets of one event, each once, however often the event names it."""

from typing import Any

from lily.intake.openlineage.naming import DatasetName, Naming
from lily.model import ids
from lily.model.values import MAX_QUALIFIED_NAME, Checker

Json = dict[str, Any]


class AssetCollector:
    """`stated` holds the type and the attributes of each asset by qualified name, in order of appearance."""

    def __init__(self, naming: Naming, tenant: str) -> None:
        self.checker = Checker()
        self.tenant = tenant
        self.stated: dict[str, tuple[str, Json]] = {}
        self._naming = naming
        self._named: dict[tuple[str, str], DatasetName] = {}  # an event names the same few datasets many times

    def state(self, qualified_name: str, entity_type: str, attributes: Json) -> None:
        known = self.stated.get(qualified_name)
        if known is None:
            self.stated[qualified_name] = (entity_type, attributes)
        else:
            known[1].update(attributes)

    def mention(self, qualified_name: str, entity_type: str, attributes: Json) -> None:
        """States that an asset exists, unless the event states more about it elsewhere."""
        self.stated.setdefault(qualified_name, (entity_type, attributes))

    def dataset_name(self, holder: Json, entity: str) -> DatasetName | None:
        """The name of the dataset with this `namespace` and `name`."""
        namespace, name = holder.get("namespace"), holder.get("name")
        if not isinstance(namespace, str) or not isinstance(name, str):
            return self._read_name(holder, entity)
        known = self._named.get((namespace, name))
        if known is None and (known := self._read_name(holder, entity)) is not None:
            self._named[namespace, name] = known
        return known

    def _read_name(self, holder: Json, entity: str) -> DatasetName | None:
        name = self.checker.name(holder.get("name"), f"{entity}.name", MAX_QUALIFIED_NAME)
        namespace = self.namespace(holder, entity)
        if name is None or namespace is None:
            return None
        named = self._naming.dataset(namespace, name)
        qualified_name = self.checker.name(named.qualified_name, f"{entity}.name", MAX_QUALIFIED_NAME)
        title = self.checker.name(named.title, f"{entity}.name")
        if qualified_name is None or title is None:
            return None
        if ids.looks_like_uuid(qualified_name):
            self.checker.refuse("INVALID_VALUE", "a dataset's name must not look like a UUID", f"{entity}.name")
        return DatasetName(qualified_name, title, named.entity_type)

    def namespace(self, holder: Json, entity: str) -> str | None:
        """An empty namespace is allowed."""
        given = holder.get("namespace")
        if given is None or given == "":
            return ""
        return self.checker.name(given, f"{entity}.namespace", MAX_QUALIFIED_NAME)

    def column(self, dataset: str, field: Any, entity: str) -> tuple[str, str] | None:
        """The qualified name and the name of a column."""
        name = self.checker.name(field, entity)
        if name is None:
            return None
        qualified_name = self.checker.name(f"{dataset}.{name}", entity, MAX_QUALIFIED_NAME)
        return None if qualified_name is None else (qualified_name, name)

    def id(self, qualified_name: str) -> str:
        return ids.asset_id(self.tenant, qualified_name)
