"""The PostgreSQL enforcer keeps every promise of its port."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lily.connect.enforcers.postgres import Postgres
from lily.plugins import Decision
from lily.testing import EnforcerSuite
from tests.enforcers.target import OWNER, Target


class TestPostgres(EnforcerSuite):
    plugin = Postgres
    target: Target

    @pytest.fixture(autouse=True)
    def _target(self, target: Target) -> None:
        self.target = target
        target.run("grant select on shop.customers to public; grant select (id) on shop.orders to hr", user=OWNER)
        target.run("grant select on shop.orders to bob with grant option", user=OWNER)

    def settings(self) -> Mapping[str, Any]:
        return self.target.settings()

    def decisions(self) -> Sequence[Decision]:
        made = self.target.decision
        return [
            made("shop.customers", ["ann", "analyst"], "allow"),
            made("shop.customers", ["ann", "analyst"], "mask", "email", mask="show-last-4", tags=("PII",)),
            made("shop.customers", ["bob"], "row-filter", row_filters=("country = 'DE'",)),
            made("shop.orders", ["ann", "bob", "hr"], "allow"),
            made('Odd "Schema".Straße "1"', ["größe"], "allow"),
        ]

    def state(self) -> Any:
        return self.target.state()

    def tamper(self) -> None:
        self.target.run("drop view shop_masked.customers; grant select on shop.customers to public")
        self.target.run("alter table shop.customers disable row level security")

    def unreachable(self) -> Mapping[str, Any]:
        return {"url": "postgresql://nobody@127.0.0.1:1/nowhere", "connect_seconds": 2}
