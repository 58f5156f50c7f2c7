"""A migrated PostgreSQL and nothing else: no worker propagates, so a test decides when that happens."""

import base64
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest

from lily.reactions.enforcement import task
from lily.reactions.notifications import channels
from lily.store.postgres.access.administration import create_tenant
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.migrations import migrate
from lily.store.postgres.propagation.propagator import Propagator
from tests.distributions import install, registry_of
from tests.lineage_world import World
from tests.notification_receiver import Receiver, notification_receiver
from tests.postgres.decided_tags import DecidedTags
from tests.postgres.enforcement import OWN, EnforcedTarget
from tests.postgres.incidents import IncidentWorld
from tests.postgres.migrated import PASSWORDS, Migrated
from tests.postgres.notified import Notified
from tests.postgres.risks import Risks, opened
from tests.postgres_server import postgres_server


@pytest.fixture(scope="session")
def migrated() -> Iterator[Migrated]:
    with postgres_server() as server:
        migrate(server.url, PASSWORDS)
        yield Migrated(server.url)


@pytest.fixture(scope="session")
def owner(migrated: Migrated) -> Iterator[psycopg.Connection]:
    with psycopg.connect(migrated.owner, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def make_world(migrated: Migrated, owner: psycopg.Connection) -> Iterator[Callable[[], World]]:
    """A new tenant."""
    url = migrated.url_of("lily_pipeline")
    with closing(CatalogueWriter(url)) as writer, closing(Propagator(url)) as propagator:

        def make() -> World:
            tenant = f"t{uuid.uuid4().hex[:12]}"
            create_tenant(migrated.owner, tenant)
            return World(tenant, writer, propagator, owner)

        yield make


@pytest.fixture(scope="session")
def decided(migrated: Migrated) -> Iterator[DecidedTags]:
    """The tags that decisions see."""
    with closing(DecidedTags(migrated.url_of("lily_api"))) as found:
        yield found


@pytest.fixture
def target(
    migrated: Migrated, make_world: Callable[[], World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[EnforcedTarget]:
    points = "[lily.enforcers]\nrules-file = tests.sample_plugins.rules_file:RulesFile\n"
    install(tmp_path / "site", "rules-file", points)
    registry = registry_of(tmp_path / "site")
    monkeypatch.setattr(task, "installed", lambda: registry)
    key_file, rules = tmp_path / "master.key", tmp_path / "rules.json"
    key_file.write_text(base64.b64encode(bytes(32)).decode())
    rules.write_text(json.dumps(OWN))
    world = make_world()
    world.asset("shop.public.people", data_source="shop")
    world.asset("shop.public.plain", data_source="shop")
    with closing(EnforcedTarget(migrated, world, key_file, rules)) as found:
        found.policy("all", "allow")
        found.policy("mask", "mask", tag="PII", mask="show-last-4")
        yield found


@pytest.fixture
def incidents(
    migrated: Migrated, make_world: Callable[[], World], owner: psycopg.Connection
) -> Iterator[IncidentWorld]:
    """A new tenant, and the reaction that merges what is stated about its incidents."""
    with closing(IncidentWorld(migrated, make_world, owner)) as found:
        yield found


@pytest.fixture(scope="session")
def posts() -> Iterator[Receiver]:
    with notification_receiver() as found:
        yield found


@pytest.fixture
def receiver(posts: Receiver) -> Receiver:
    posts.received.clear()
    posts.taken.clear()
    posts.work()
    return posts


@pytest.fixture
def make_notified(
    migrated: Migrated,
    make_world: Callable[[], World],
    receiver: Receiver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[], Notified]]:
    """A new tenant with a channel that posts to the receiver."""
    install(tmp_path / "site", "notifier", "[lily.channels]\nnotifier = tests.sample_plugins.notifier:Notifier\n")
    registry = registry_of(tmp_path / "site")
    monkeypatch.setattr(channels, "installed", lambda: registry)
    key_file = tmp_path / "master.key"
    key_file.write_text(base64.b64encode(bytes(32)).decode())
    with ExitStack() as made:
        yield lambda: made.enter_context(closing(Notified(migrated, make_world(), receiver, key_file)))


@pytest.fixture
def notified(make_notified: Callable[[], Notified]) -> Notified:
    return make_notified()


@pytest.fixture
def other(make_notified: Callable[[], Notified]) -> Notified:
    return make_notified()


@pytest.fixture(scope="module")
def risks(migrated: Migrated, owner: psycopg.Connection) -> Iterator[Risks]:
    with opened(migrated, owner) as found:
        yield found
