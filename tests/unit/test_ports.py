"""The ports stay small, say what happens on failure, and fit what implements them."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from lily.connect.connectors.file import File, FileConfig
from lily.connect.transforms.add_tags import AddTags, AddTagsConfig
from lily.connect.transforms.rename import Rename, RenameConfig
from lily.formats.csv import Csv
from lily.formats.json_array import JsonArray
from lily.formats.ndjson import Ndjson
from lily.formats.xlsx import Xlsx
from lily.formats.xml import Xml
from lily.intake.openlineage import OpenLineage, OpenLineageConfig
from lily.plugins import GROUPS, Channel, Connector, Enforcer, Format, Group, Intake, Splitter, Transform
from tests.sample_plugins.rules_file import RulesFile, RulesFileConfig
from tests.sample_plugins.tickets import Tickets, TicketsConfig
from tests.sample_plugins.webhook import Webhook, WebhookConfig


@pytest.mark.parametrize("port", [*(group.port for group in GROUPS), Splitter], ids=lambda port: port.__name__)
def test_a_port_has_at_most_six_methods_and_each_is_described(port: type[Any]) -> None:
    methods = [method for name, method in inspect.getmembers(port, inspect.isfunction) if name[0] != "_"]
    assert 0 < len(methods) <= 6
    assert all(inspect.getdoc(method) for method in methods)


@pytest.mark.parametrize("group", [group for group in GROUPS if group.configured], ids=lambda group: group.name)
def test_a_port_says_what_happens_on_failure(group: Group[Any]) -> None:
    assert "raise" in (inspect.getdoc(group.port) or "").lower()


def test_the_type_checker_accepts_what_lily_accepts() -> None:
    """Read by mypy: an author who annotates like this gets the port's own complaints."""
    formats: list[Format] = [Csv(), JsonArray(), Ndjson(), Xlsx(), Xml()]
    connector: Connector = File(FileConfig(path=Path()))
    transforms: list[Transform] = [AddTags(AddTagsConfig(match="*", tags=["x"])), Rename(RenameConfig())]
    intakes: list[Intake] = [OpenLineage(OpenLineageConfig()), Tickets(TicketsConfig())]
    channel: Channel = Webhook(WebhookConfig())
    enforcer: Enforcer = RulesFile(RulesFileConfig(path=Path()))
    assert all([*formats, connector, *transforms, *intakes, channel, enforcer])
