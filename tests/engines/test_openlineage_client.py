"""OpenLineage's own Python client sends runs with parents to Lily."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.contract.door import Door, client
from tests.engines.producers.environments import CLIENT, environment, produce
from tests.engines.producers.graph import SECONDS, expect, sources
from tests.extra_api import until
from tests.shared_stack import Stack

pytestmark = pytest.mark.engines

SCRIPT = Path(__file__).parent / "producers" / "python_client" / "nightly.py"
PEOPLE = "dwh.core.people"


@dataclass(frozen=True)
class Night:
    door: Door
    all: str
    load: str
    report: str

    def run(self, run_id: str) -> dict[str, Any]:
        """As Lily shows it once it has ended."""
        until(lambda: bool(self._read(run_id).get("ended_at")), SECONDS)
        return self._read(run_id)

    def _read(self, run_id: str) -> dict[str, Any]:
        return dict(self.door.http.get(f"/runs/{run_id}").json())


@pytest.fixture(scope="module")
def night(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Night]:
    tenant, token = make_tenant()
    python = environment(CLIENT) / "python"
    variables = {"OPENLINEAGE_URL": stack.url, "OPENLINEAGE_API_KEY": token}
    written = produce([python, SCRIPT], tmp_path_factory.mktemp("client"), variables)
    with client(stack, token) as http:
        yield Night(Door(stack, tenant, token, http), *written.strip().splitlines()[-1].split())


def test_inputs_of_the_start_and_outputs_of_the_end_make_the_graph(night: Night) -> None:
    crm = "crm.public.people"
    expect(
        night.door,
        {PEOPLE: {crm}, f"{PEOPLE}.email": {f"{crm}.email"}, f"{PEOPLE}.country": {f"{crm}.country"}},
    )


def test_runs_show_their_parent_and_how_they_ended(night: Night) -> None:
    load, report = night.run(night.load), night.run(night.report)
    assert (load["state"], report["state"], night.run(night.all)["state"]) == ("COMPLETE", "FAIL", "FAIL")
    assert report["error"]["message"] == "disk is full"
    for child in (load, report):
        assert child["parent"]["run_id"] == night.all
        assert child["parent"]["job"] == "job:nightly/all"


def test_a_run_that_failed_makes_no_edges(night: Night) -> None:
    night.run(night.report)
    assert sources(night.door, ["dwh.reports.countries"]) == {}
