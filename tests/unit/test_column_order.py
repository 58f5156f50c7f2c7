"""Which name a column of the catalogue has in SQL."""

from typing import Any

import pytest

from lily.intake.sql.column_order import column_name


@pytest.mark.parametrize(
    ("qualified_name", "fields", "expected"),
    [
        ("crm.people.Email", {"name": "Email"}, "email"),
        ("crm.people.email", {"name": "harmless"}, "email"),  # whoever may state assets may state any name
        ("crm.people.email", {}, "email"),
        ("crm.people.column:email", {"name": "email"}, "email"),
        ("elsewhere.col_7", {"name": "email"}, "email"),  # a column of the table only by its parent
        ("elsewhere.email", {}, "email"),
    ],
)
def test_the_name_below_its_table_counts(qualified_name: str, fields: dict[str, Any], expected: str) -> None:
    assert column_name(fields, qualified_name, "crm.people") == expected
