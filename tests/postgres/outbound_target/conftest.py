"""A target that cannot be read, and the tool that takes its messages."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lily.reactions.enforcement import task
from tests.badserver import BadServer
from tests.distributions import install, registry_of
from tests.lineage_world import World
from tests.postgres.enforcement import EnforcedTarget
from tests.postgres.migrated import Migrated
from tests.postgres.outbound_target.messages import PEOPLE, PLAIN
from tests.webhook_tool import SECRET, accepting_tool


@pytest.fixture
def tool() -> Iterator[BadServer]:
    with accepting_tool() as found:
        yield found


@pytest.fixture
def make_target(
    migrated: Migrated, tool: BadServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[World], EnforcedTarget]]:
    install(tmp_path / "site", "webhook", "[lily.enforcers]\nwebhook = lily.connect.enforcers.webhook:Webhook\n")
    registry = registry_of(tmp_path / "site")
    monkeypatch.setattr(task, "installed", lambda: registry)
    key_file = tmp_path / "master.key"
    key_file.write_text(base64.b64encode(bytes(32)).decode())
    made: list[EnforcedTarget] = []

    def make(world: World) -> EnforcedTarget:
        made.append(
            EnforcedTarget(
                migrated,
                world,
                key_file,
                tmp_path / "unused",
                "webhook",
                {"url": tool.url, "secrets": [SECRET], "connections": 1},
                {},
                enforcement={"allowed_networks": ["127.0.0.0/8"]},
            )
        )
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def target(make_world: Callable[[], World], make_target: Callable[[World], EnforcedTarget]) -> EnforcedTarget:
    world = make_world()
    world.asset(PEOPLE, data_source="Shop")
    world.asset(PLAIN, data_source="shop")
    world.asset("crm.people", data_source="crm")
    found = make_target(world)
    found.policy("all", "allow")
    found.policy("mask", "mask", tag="PII", mask="show-last-4")
    return found
