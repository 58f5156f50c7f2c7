"""What the SQL of a restricted sender may learn of the tables that it names."""

from collections.abc import Collection, Mapping
from typing import Any

import pytest

from lily.reactions.run_queries.rights import readable
from lily.store.postgres.run_queries.ledger import StoredTable

NESTED = {"device.os": "t.device.os", "device.mail": "t.device.mail"}
TABLE = StoredTable("t", {"id": "t.id", "device": "t.device"}, ordered=True, exists=True, nested=NESTED)


class AllBut:
    def __init__(self, *denied: str) -> None:
        self._denied = denied

    def permitted(self, _: str, kinds: Mapping[str, str]) -> Collection[str]:
        return kinds.keys() - set(self._denied)


@pytest.mark.parametrize(
    ("denied", "fields"),
    [
        ((), {"device.os", "device.mail"}),
        (("t.device.mail",), {"device.os"}),
        (("t.device",), set()),
        (("t",), set()),
    ],
)
def test_fields_of_structs_are_known_as_far_as_they_and_their_column_may_be_read(
    denied: tuple[str, ...], fields: set[str]
) -> None:
    policies: Any = AllBut(*denied)
    assert set(readable(policies, {"t": TABLE})["t"].nested) == fields
