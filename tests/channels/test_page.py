"""The page on channels has every setting of every channel, and the message as it is sent."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lily.connect.channels.messages import body_of
from lily.connect.channels.slack import SlackConfig
from lily.plugins import CHANNELS, installed
from tests.channels.story import OPENED

PAGE = Path(__file__).parents[2] / "docs/how-to/notify-people.md"
TYPES = ["email", "freshdesk", "jira", "kafka", "slack", "teams", "webhook"]
NAMES = re.compile(r"`([a-z_]+)`")


def stated(type_: str) -> dict[str, str]:
    """The settings of a type in the table, with what it says about their defaults."""
    found: dict[str, str] = {}
    for row in PAGE.read_text().partition("### Settings")[2].partition("\n### ")[0].splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) == 4 and (type_ in NAMES.findall(cells[0])) != cells[0].startswith("all but"):
            found |= dict.fromkeys(NAMES.findall(cells[1]), cells[2])
    return found


def example(number: int) -> Any:
    blocks = re.findall(r"```text\n(\{.*?\n\})\n```", PAGE.read_text(), re.DOTALL)
    return json.loads(blocks[number])


@pytest.mark.parametrize("type_", TYPES)
def test_every_setting_is_described(type_: str) -> None:
    fields = installed().load(CHANNELS, type_).Config.model_fields  # type: ignore[attr-defined] # a class attribute
    assert set(stated(type_)) == set(fields)


@pytest.mark.parametrize("type_", TYPES)
def test_what_is_required_is_marked(type_: str) -> None:
    fields = installed().load(CHANNELS, type_).Config.model_fields  # type: ignore[attr-defined]
    required = {name for name, field in fields.items() if field.is_required()}
    marked = {name for name, default in stated(type_).items() if default == "required"}
    assert marked == required


def test_the_example_of_a_configuration_is_one() -> None:
    SlackConfig.model_validate(json.loads(json.dumps(example(0)).replace("\\u2026", "x")))


def test_the_example_of_a_message_has_the_fields_that_are_sent() -> None:
    sent = json.loads(body_of(OPENED))
    assert list(example(1)) == list(sent)
    assert list(example(1)["data"]) == list(sent["data"])
    assert list(example(1)["data"]["details"]) == list(sent["data"]["details"])
