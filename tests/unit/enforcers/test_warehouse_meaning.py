"""What policies of Snowflake and Databricks evaluate to in a real SQL engine, for random decisions and sessions."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lily.connect.enforcers.access import Cell
from lily.connect.enforcers.warehouses.databricks import Databricks, DatabricksConfig
from lily.connect.enforcers.warehouses.masks import Functions, masked
from lily.connect.enforcers.warehouses.scripts import Scripted
from lily.connect.enforcers.warehouses.snowflake import Snowflake, SnowflakeConfig
from lily.connect.enforcers.warehouses.tables import Subject
from lily.connect.enforcers.warehouses.types import ColumnType
from lily.plugins import Decision, TargetColumn

TABLE = ("shop", "public", "people")
COUNTRY = TargetColumn("country", "VARCHAR(2)")
GROUPS = ("g1", "g2", "g3", "g4")
USERS = ("u1", "u2")
FILTERS = {"country = 'DE'": "DE", "country <> 'FR'": "not FR"}
# The strictest first: what is seen of the value.
SEEN = ("deny", "replace-with-null", "mask-to-fixed-value", "sha-256-global", "clear")
ROWS = [(None, "ann"), ("DE", "bob"), ("FR", "eve"), ("UK", None)]


class Stated(NamedTuple):
    """What was decided for one subject."""

    kind: Any
    name: str
    table: str  # allow, deny, or a filter
    column: str  # one of SEEN


STATED = st.builds(
    Stated,
    st.just("group"),
    st.sampled_from(GROUPS),
    st.sampled_from(["allow", "deny", *FILTERS]),
    st.sampled_from(SEEN),
) | st.builds(
    Stated, st.just("user"), st.sampled_from(USERS), st.sampled_from(["allow", "deny", *FILTERS]), st.sampled_from(SEEN)
)
DECIDED = st.lists(STATED, max_size=6, unique_by=lambda one: one.name)


def decisions(stated: Sequence[Stated]) -> list[Decision]:
    found = [Decision("t", TABLE, (), "deny", columns=(COUNTRY,))]
    for one in stated:
        who: dict[str, Any] = {"principals": (one.name,), "kinds": (one.kind,)}
        filters = (one.table,) if one.table in FILTERS else ()
        effect: Any = "row-filter" if filters else one.table
        found.append(Decision("t", TABLE, effect=effect, row_filters=filters, columns=(COUNTRY,), **who))
        if one.column == "deny":
            found.append(Decision("c", TABLE, effect="deny", column="name", column_type="VARCHAR(9)", **who))
        elif one.column != "clear":
            masked: Any = {"effect": "mask", "mask": one.column, "row_filters": filters}
            found.append(Decision("c", TABLE, column="name", column_type="VARCHAR(9)", **masked, **who))
    return found


def expected(stated: Sequence[Stated], user: str, groups: frozenset[str]) -> list[tuple[str | None, str | None]]:
    mine = [one for one in stated if one.name == user or one.name in groups]
    if not mine or any(one.table == "deny" for one in mine):
        return []
    rows = [row for row in ROWS if all(_passes(one.table, row[0]) for one in mine)]
    strictest = min((one.column for one in mine), key=SEEN.index)
    return [(country, _seen(strictest, name)) for country, name in rows]


def _passes(table: str, country: str | None) -> bool:
    if table == "allow":
        return True
    return country is not None and (country == "DE" if table == "country = 'DE'" else country != "FR")


def _seen(column: str, name: str | None) -> str | None:
    if column == "mask-to-fixed-value":
        return "xxxx"
    if column == "sha-256-global":
        return None if name is None else f"hash of {name}"
    return name if column == "clear" else None


def evaluated(
    warehouse: Scripted, stated: Sequence[Stated], user: str, groups: frozenset[str]
) -> list[tuple[str | None, str | None]]:
    made = [step.change for step in warehouse.plan(decisions(stated)).steps]
    rows = _body(next(text for text in made if "RETURNS BOOLEAN" in text)).replace("a1", "country")
    values = [_body(text) for text in made if "(val " in text]
    value = values[0].replace("val", "name") if values else "name"
    with sqlite3.connect(":memory:") as database:
        for function in ("IS_ROLE_IN_SESSION", "IS_ACCOUNT_GROUP_MEMBER"):
            database.create_function(function, 1, lambda name: name.lower() in groups)
        database.create_function("CURRENT_USER", 0, lambda: user if "LOWER" in rows + value else user.upper())
        database.create_function("SHA2", 2, lambda text, _: None if text is None else f"hash of {text}")
        database.execute("create table people (country text, name text)")
        database.executemany("insert into people values (?, ?)", ROWS)
        found = database.execute(f"select country, {value} from people where {rows}").fetchall()  # noqa: S608 - of the test
    database.close()
    return found


def _body(text: str) -> str:
    return text.split(" -> ", 1)[1] if " -> " in text else text.split(" RETURN ", 1)[1]


@pytest.mark.parametrize(
    "warehouse", [Snowflake(SnowflakeConfig()), Databricks(DatabricksConfig())], ids=["snowflake", "databricks"]
)
@pytest.mark.campaign
@settings(max_examples=300, deadline=None)
@given(
    stated=DECIDED,
    user=st.sampled_from([*USERS, "stranger"]),
    groups=st.frozensets(st.sampled_from([*GROUPS, "other"])),
)
def test_a_session_sees_what_the_strictest_of_its_subjects_sees(
    warehouse: Scripted, stated: list[Stated], user: str, groups: frozenset[str]
) -> None:
    assert evaluated(warehouse, stated, user, groups) == expected(stated, user, groups)


@pytest.mark.parametrize(
    ("text", "first", "last"), [("", "", ""), ("abcd", "xxxx", "xxxx"), ("abcde", "abcdx", "xbcde")]
)
def test_a_text_that_would_be_shown_whole_is_masked_whole(text: str, first: str, last: str) -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.create_function("LEFT", 2, lambda given, length: given[:length])
        database.create_function("RIGHT", 2, lambda given, length: given[-length:])
        database.create_function("RPAD", 3, lambda given, length, fill: given.ljust(length, fill))
        database.create_function("LPAD", 3, lambda given, length, fill: given.rjust(length, fill))
        database.create_function("REPEAT", 2, lambda given, times: given * times)
        for action, expected in (("show-first-4", first), ("show-last-4", last)):
            shown = masked("val", ColumnType("VARCHAR", "text"), Cell(mask=action), Functions(repr, "", ""))
            asked = str(shown).replace("LEFT", '"LEFT"').replace("RIGHT", '"RIGHT"')  # words of SQLite's own
            found = database.execute(f"select {asked} from (select ? as val)", [text])  # noqa: S608 - of the test
            assert found.fetchall() == [(expected,)]


@pytest.mark.parametrize("case", ["upper", "exact"])
@pytest.mark.parametrize("account", ["ANN@EXAMPLE.ORG", "ann@example.org", "Ann@Example.org"])
def test_what_restricts_a_user_of_snowflake_holds_for_the_account_in_any_case(case: Any, account: str) -> None:
    test = Snowflake(SnowflakeConfig(case=case))._is(Subject("user", "Ann@example.org"))
    with sqlite3.connect(":memory:") as database:
        database.create_function("CURRENT_USER", 0, lambda: account)
        found = database.execute(f"select {test}").fetchone()
    database.close()
    assert found == (1,)
