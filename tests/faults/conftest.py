"""Engines of their own, with everything stored that Lily needs, for faults that need no whole stack."""

from collections.abc import Iterator

import pytest

from lily.embedded.bootstrap import prepare_schema, prepare_topics, url_for_role
from lily.settings import Settings
from lily.store.postgres.access.administration import create_tenant
from tests.faults.own_stack import OwnStack, own_stack

TENANT = "north"


@pytest.fixture(scope="module")
def engines() -> Iterator[OwnStack]:
    with own_stack(parts="kafka,postgres") as stack:
        passwords = {role: word for role, word in stack.state.passwords.items() if role != "lily"}
        prepare_schema(Settings(data_dir=stack.data_dir), stack.database, passwords)
        prepare_topics(Settings(data_dir=stack.data_dir), stack.kafka.brokers)
        create_tenant(stack.database, TENANT)
        yield stack


@pytest.fixture(scope="module")
def pipeline_database(engines: OwnStack) -> str:
    """The libpq URI of the role that the pipeline and the relay have."""
    return url_for_role(engines.database, "lily_pipeline", engines.state.passwords["lily_pipeline"])
