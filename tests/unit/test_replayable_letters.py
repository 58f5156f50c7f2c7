"""Which assets an event names that is to be replayed: the caller needs WRITE on each of them."""

import uuid

import pytest

from lily.api.auth.dead_letters import _references
from lily.model import clock
from lily.model.edges import Claim, ClaimsEvent, EdgeKey, RunDatasets

A, B, C = (str(uuid.UUID(int=number)) for number in range(1, 4))
KEY = EdgeKey(A, B, "derived-from")


@pytest.mark.parametrize(
    ("stated", "named"),
    [
        ({"claims": (Claim(KEY),)}, {A, B}),
        ({"released": (KEY,)}, {A, B}),
        ({"datasets": RunDatasets((A,), (B,))}, {A, B}),  # every output is assumed to come from every input
        ({"claims": (Claim(KEY),), "datasets": RunDatasets((), (C,), (C,))}, {A, B, C}),
    ],
)
def test_an_event_of_a_run_names_its_edges_and_its_datasets(stated: dict[str, object], named: set[str]) -> None:
    event = ClaimsEvent("e", clock.now(), "t", "j", "r", complete=True, **{"claims": (), **stated})  # type: ignore[arg-type]
    assert set(_references(event.as_cloudevent()["data"])) == named
