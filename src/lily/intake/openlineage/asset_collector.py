"""Collects the assets of one event, each once, however often the event names it."""

from typing import TYPE_CHECKING, Any

from lily.intake.openlineage.naming import DatasetName, Naming
from lily.model import ids
from lily.model.values import MAX_QUALIFIED_NAME, Checker

if TYPE_CHECKING:
    from lily.model.errors import Problem

Json = dict[str, Any]


class AssetCollector:
    """`stated` holds the type and the attributes of each asset by qualified name, in order of appearance. `checker`
    has the problems for which the event is refused, `warnings` those that spoil a facet alone. Unless the sender
    `describes` assets, only that they exist is stated."""

    def __init__(self, naming: Naming, tenant: str, *, describes: bool = True) -> None:
        self.checker = Checker()
        self.warnings: list[Problem] = []
        self.tenant, self.describes = tenant, describes
        self.stated: dict[str, tuple[str, Json]] = {}
        self.deleted: set[str] = set()  # qualified names among the stated
        self._naming = naming
        self._named: dict[tuple[str, str], DatasetName] = {}  # an event names the same few datasets many times
        self._ids: dict[str, str] = {}

    def state(self, qualified_name: str, entity_type: str, attributes: Json) -> None:
        known = self.stated.get(qualified_name)
        if known is None:
            self.stated[qualified_name] = (entity_type, attributes)
        else:
            known[1].update(attributes)

    def mention(self, qualified_name: str, entity_type: str, attributes: Json) -> None:
        """States that an asset exists, unless the event states more about it elsewhere."""
        self.stated.setdefault(qualified_name, (entity_type, attributes))

    def prefer(self, holder: Json, named: DatasetName) -> None:
        """Gives a dataset of the event another name, which `dataset_name` returns from then on."""
        self._named[holder["namespace"], holder["name"]] = named

    def dataset_name(
        self, checker: Checker, holder: Json, entity: str, *, is_table: bool = False
    ) -> DatasetName | None:
        """The name of the dataset with this `namespace` and `name`. One that is known to be a table is not named by a
        location, whatever its namespace is."""
        namespace, name = holder.get("namespace"), holder.get("name")
        if is_table or not isinstance(namespace, str) or not isinstance(name, str):
            return self._read_name(checker, holder, entity, is_table=is_table)
        known = self._named.get((namespace, name))
        if known is None and (known := self._read_name(checker, holder, entity)) is not None:
            self._named[namespace, name] = known
        return known

    def _read_name(self, checker: Checker, holder: Json, entity: str, *, is_table: bool = False) -> DatasetName | None:
        name = checker.name(holder.get("name"), f"{entity}.name", MAX_QUALIFIED_NAME)
        namespace = self.namespace(checker, holder, entity)
        if name is None or namespace is None:
            return None
        named = self._naming.table(namespace, name) if is_table else self._naming.dataset(namespace, name)
        qualified_name = checker.name(named.qualified_name, f"{entity}.name", MAX_QUALIFIED_NAME)
        title = checker.name(named.title, f"{entity}.name")
        if qualified_name is None or title is None:
            return None
        if ids.looks_like_uuid(qualified_name):
            checker.refuse("INVALID_VALUE", "a dataset's name must not look like a UUID", f"{entity}.name")
            return None
        return DatasetName(qualified_name, title, named.entity_type)

    def namespace(self, checker: Checker, holder: Json, entity: str) -> str | None:
        """An empty namespace is allowed."""
        given = holder.get("namespace")
        if given is None or given == "":
            return ""
        return checker.name(given, f"{entity}.namespace", MAX_QUALIFIED_NAME)

    def id(self, qualified_name: str) -> str:
        found = self._ids.get(qualified_name)
        if found is None:
            found = self._ids[qualified_name] = ids.asset_id(self.tenant, qualified_name)
        return found


def column_name(checker: Checker, dataset: str, field: Any, entity: str) -> tuple[str, str] | None:
    """The qualified name and the name of a column."""
    name = checker.name(field, entity)
    if name is None:
        return None
    qualified_name: str | None = f"{dataset}.{name}"
    if len(dataset) + len(name) >= MAX_QUALIFIED_NAME or not (dataset.isascii() and name.isascii()):
        # Else it is valid because both parts are.
        qualified_name = checker.name(qualified_name, entity, MAX_QUALIFIED_NAME)
    return None if qualified_name is None else (qualified_name, name)
