import sqlite3

import pytest
from lily_sqlite import Sqlite

from lily.plugins import SourceEdge
from lily.testing import ConnectorSuite

SCHEMA = """
create table customers (id integer primary key, email text);
create table orders (id integer, customer integer references customers, amount real);
create view spending as select email, sum(amount) as total from orders join customers on customer = customers.id;
create view big_spenders as select email from spending where total > 1000;
"""


class TestSqlite(ConnectorSuite):
    plugin = Sqlite

    @pytest.fixture(autouse=True)
    def database(self, tmp_path):
        self.path = tmp_path / "shop.db"
        connection = sqlite3.connect(self.path)
        connection.executescript(SCHEMA)
        connection.close()

    def settings(self):
        return {"path": str(self.path)}

    def unreachable(self):
        return {"path": str(self.path.with_name("nowhere.db"))}

    def test_views_are_derived_from_what_they_read(self):
        assert [one for one in self.read() if isinstance(one, SourceEdge)] == [
            SourceEdge("shop.spending", "shop.big_spenders"),
            SourceEdge("shop.customers", "shop.spending"),
            SourceEdge("shop.orders", "shop.spending"),
        ]
