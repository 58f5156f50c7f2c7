"""The statements of one OpenLineage event as events of the log: plain columns by table, every other asset by itself."""

from collections.abc import Iterator

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.facets import Json
from lily.model.columns import MAX_COLUMNS, AssetRecord, ColumnsEvent, travels_with_table, without_implied
from lily.model.events import AssetEvent
from lily.model.statements import Operation, Statement
from lily.plugins import Sender


def asset_events(collector: AssetCollector, sender: Sender, time: str, first: str) -> list[AssetRecord]:
    """The parts have been validated one by one, so the statements are not validated again."""
    columns: dict[str, dict[str, Json]] = {}
    found: list[AssetRecord] = []
    for name, (kind, attributes) in collector.stated.items():
        if name not in collector.deleted and travels_with_table(name, kind, attributes):
            columns.setdefault(attributes["parent"], {})[attributes["name"]] = without_implied(attributes)
        else:
            operation: Operation = "delete" if name in collector.deleted else "upsert"
            statement = Statement(
                "source", operation, name, kind, attributes, by=sender.by, authorised=sender.authorised
            )
            envelope = (numbered_id(first, len(found) + 1), time, sender.tenant)
            found.append(AssetEvent(*envelope, statement, correlation=sender.correlation, trace=sender.trace))
    for parent, some in _by_parent(columns):
        envelope = (numbered_id(first, len(found) + 1), time, sender.tenant)
        caller = (sender.by, sender.authorised)
        found.append(ColumnsEvent(*envelope, parent, some, *caller, correlation=sender.correlation, trace=sender.trace))
    return found


def _by_parent(columns: dict[str, dict[str, Json]]) -> Iterator[tuple[str, dict[str, Json]]]:
    for parent, named in columns.items():
        names = list(named)
        for begin in range(0, len(names), MAX_COLUMNS):
            yield parent, {name: named[name] for name in names[begin : begin + MAX_COLUMNS]}


def numbered_id(event_id: str, number: int) -> str:
    """The ids of events that arrived together count up from the first one's. Drawing a random id for each would cost
    more than the rest of the event."""
    return f"{event_id[:-5]}{(int(event_id[-5:], 16) + number) & 0xFFFFF:05x}"
