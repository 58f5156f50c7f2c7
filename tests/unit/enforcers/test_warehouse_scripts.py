"""The statements for Snowflake, Databricks and BigQuery: what they say, and that nothing in a name becomes syntax."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lily.connect.enforcers.warehouses.bigquery import BigQuery, BigQueryConfig
from lily.connect.enforcers.warehouses.databricks import Databricks, DatabricksConfig
from lily.connect.enforcers.warehouses.scripts import Scripted
from lily.connect.enforcers.warehouses.snowflake import Snowflake, SnowflakeConfig
from lily.model.errors import Terminal
from lily.plugins import Decision, Plan, TargetColumn
from lily.policy import MASK_ACTIONS

TABLE = ("shop", "public", "customers")
Warehouse = tuple[str, Scripted]
SNOWFLAKE: Warehouse = ("snowflake", Snowflake(SnowflakeConfig()))
DATABRICKS: Warehouse = ("databricks", Databricks(DatabricksConfig()))
BIGQUERY: Warehouse = ("bigquery", BigQuery(BigQueryConfig(domain="example.org")))
ALL = [SNOWFLAKE, DATABRICKS, BIGQUERY]
ASKING = [SNOWFLAKE, DATABRICKS]
IDS = ["snowflake", "databricks", "bigquery"]
# Statements that sqlglot does not parse, or keeps as text: nothing but their tokens is checked here.
UNCHECKED = {
    "snowflake": ["ADD ROW ACCESS POLICY", "CREATE ROW ACCESS POLICY", "CREATE MASKING POLICY", "MASKING POLICY"],
    "databricks": ["SET ROW FILTER", "SET MASK", "DROP MASK"],
    "bigquery": ["ROW ACCESS POLIC", "DATA_POLICY", "SET OPTIONS (data_policies"],
}


def of_table(effect: Any, *names: str, kind: Any = "role", **more: Any) -> Decision:
    return Decision("a", more.pop("table", TABLE), names, effect, kinds=(kind,) * len(names), **more)


def of_column(effect: Any, column: str, *names: str, kind: Any = "role", **more: Any) -> Decision:
    more.setdefault("column_type", "VARCHAR(30)")
    return of_table(effect, *names, kind=kind, column=column, **more)


def changes(plan: Plan, marker: str = "") -> list[str]:
    assert plan.by_hand
    return [step.change for step in plan.steps if marker in step.change]


def one(plan: Plan, marker: str) -> str:
    (found,) = changes(plan, marker)
    return found


USUAL = [
    of_table("allow", "analyst", "hr"),
    of_table("deny", "stranger", kind="group"),
    of_table("row-filter", "ann", kind="user", row_filters=("country = 'DE'",)),
    of_column("mask", "email", "analyst", mask="show-last-4"),
    of_column("deny", "email", "ann", kind="user"),
    Decision("a", TABLE, (), "withdrawn", column="phone"),
    Decision("b", ("shop", "public", "old"), (), "withdrawn"),
    Decision("b", ("shop", "public", "old"), (), "withdrawn", column="mail"),
]


class TestSyntax:
    @pytest.mark.parametrize(("dialect", "warehouse"), ALL, ids=IDS)
    def test_every_statement_is_parsed_where_the_dialect_allows(self, dialect: str, warehouse: Scripted) -> None:
        parsed: list[str] = []
        unchecked: list[str] = []
        for text in changes(warehouse.plan(USUAL)):
            (unchecked if is_unchecked(text, dialect) else parsed).append(text)
        assert parsed
        for text in unchecked:
            assert any(marker in text for marker in UNCHECKED[dialect]), f"no longer checked: {text}"
        for marker in UNCHECKED[dialect]:
            assert any(marker in text for text in unchecked), f"checked by now, so remove it from the list: {marker}"

    @pytest.mark.parametrize(("dialect", "warehouse"), ASKING, ids=IDS[:2])
    def test_the_expressions_inside_policies_are_parsed(self, dialect: str, warehouse: Scripted) -> None:
        begin = " -> " if dialect == "snowflake" else " RETURN "
        bodies = [text.split(begin, 1)[1] for text in changes(warehouse.plan(USUAL), begin)]
        assert len(bodies) == 2
        for body in bodies:
            assert not isinstance(sqlglot.parse_one(body, read=dialect), exp.Command)

    @pytest.mark.parametrize(("dialect", "warehouse"), ALL, ids=IDS)
    def test_a_plan_is_the_same_again(self, dialect: str, warehouse: Scripted) -> None:
        assert warehouse.plan(USUAL) == warehouse.plan(list(reversed(USUAL)))
        for text in changes(warehouse.plan(USUAL)):
            begins_anew = ("CREATE OR REPLACE", "CREATE SCHEMA IF", "ALTER", "GRANT", "REVOKE", "DROP ALL")
            assert text.startswith(begins_anew) or "IF NOT EXISTS" in text, dialect

    @pytest.mark.parametrize(("dialect", "warehouse"), ALL, ids=IDS)
    @settings(max_examples=150, deadline=None)
    @given(data=st.data())
    def test_nothing_in_a_name_or_a_value_becomes_syntax(
        self, dialect: str, warehouse: Scripted, data: st.DataObject
    ) -> None:
        """The tokens of a script have the same kinds, whatever the names consist of."""
        names = [data.draw(HOSTILE) for _ in range(6)]
        harmless = [f"Harm{number}" for number in range(6)]
        assert kinds(warehouse.plan(hostile(names)), dialect) == kinds(warehouse.plan(hostile(harmless)), dialect)


HOSTILE = st.one_of(
    st.sampled_from(
        ["'", '"', "`", ";", "--", "/*", "\\", "\n", "$$", "'; DROP TABLE x; --", "`; x", '"; x', "\\'", "\\`"]
    ),
    st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=8),
    st.text("'\"`;-\\/*\n $x", min_size=1, max_size=8),
).map(lambda text: f"H{text}h")


def hostile(names: Sequence[str]) -> list[Decision]:
    schema, table, column, role, user, value = names
    path = ("shop", schema, table)
    return [
        of_table("allow", role, table=path),
        of_table(
            "row-filter",
            user,
            kind="user",
            table=path,
            row_filters=(f"country = '{value.replace(chr(39), chr(39) * 2)}'",),
        ),
        of_column("mask", column, role, table=path, mask="mask-to-fixed-value", mask_value=value),
        of_column("withdrawn", "old" + column, table=path),
    ]


def kinds(plan: Plan, dialect: str) -> list[list[str]]:
    found = []
    for step in plan.steps:
        tokens = sqlglot.tokenize(step.change, read=dialect)
        assert not any(token.comments for token in tokens), step.change
        assert "SEMICOLON" not in {token.token_type.name for token in tokens}, step.change
        found.append([token.token_type.name for token in tokens])
    return found


def is_unchecked(text: str, dialect: str) -> bool:
    try:
        return isinstance(sqlglot.parse_one(text, read=dialect), exp.Command)
    except SqlglotError:
        return True


TIMES = {"mask-to-fixed-value", "truncate-to-year", "truncate-to-month"}
SHOWN: dict[str, set[str]] = {
    "VARCHAR(20)": {*map(str, MASK_ACTIONS)} - {"replace-with-null", "truncate-to-year", "truncate-to-month"},
    "DECIMAL(10, 2)": {"mask-to-fixed-value"},
    "DATE": TIMES,
    "TIMESTAMP": TIMES,
    "BOOLEAN": {"mask-to-fixed-value"},
    "BINARY": {"sha-256-global"},
}


class TestMeaning:
    @pytest.mark.parametrize(("dialect", "warehouse"), ASKING, ids=IDS[:2])
    def test_the_strictest_of_a_sessions_subjects_decides(self, dialect: str, warehouse: Scripted) -> None:
        decisions = [
            of_table("allow", "clear", "masked", "hidden"),
            of_column("mask", "email", "masked", mask="show-last-4"),
            of_column("deny", "email", "hidden"),
        ]
        made = next(text for text in changes(warehouse.plan(decisions)) if "val VARCHAR" in text)
        places = [made.lower().index(f"'{name}'") for name in ("hidden", "masked", "clear")]
        assert places == sorted(places), dialect
        assert made.endswith("ELSE NULL END")

    @pytest.mark.parametrize(("dialect", "warehouse"), ASKING, ids=IDS[:2])
    def test_a_denied_subject_sees_no_rows_whatever_else_it_is(self, dialect: str, warehouse: Scripted) -> None:
        body = next(text for text in changes(warehouse.plan(USUAL)) if "RETURNS BOOLEAN" in text).lower()
        assert "not (" in body.partition("'stranger'")[0][-60:], dialect
        assert body.index("'stranger'") < body.index("'analyst'")

    @pytest.mark.parametrize(("dialect", "warehouse"), ALL, ids=IDS)
    def test_nobody_reads_a_table_that_nobody_may_read(self, dialect: str, warehouse: Scripted) -> None:
        plan = warehouse.plan([of_table("deny"), of_column("deny", "email")])
        assert any("FALSE" in text for text in changes(plan)), dialect
        assert not changes(plan, "GRANT SELECT")
        assert not changes(plan, "GRANT `roles")

    @pytest.mark.parametrize(("dialect", "warehouse"), ALL, ids=IDS)
    def test_access_is_revoked_first_and_granted_last(self, dialect: str, warehouse: Scripted) -> None:
        texts = [text for text in changes(warehouse.plan(USUAL)) if "old" not in text.lower() and "SCHEMA" not in text]
        verbs = [text.split()[0] for text in texts]
        assert verbs[0] == "REVOKE", dialect
        assert "REVOKE" not in verbs[verbs.index("ALTER") :]
        if dialect != "bigquery":
            assert verbs[-1] == "GRANT"
            assert "GRANT" not in verbs[: len(verbs) - 1 - verbs[::-1].index("ALTER")]

    @pytest.mark.parametrize(("dialect", "warehouse"), ALL, ids=IDS)
    def test_a_row_filter_that_cannot_be_used_shows_no_rows_and_is_reported(
        self, dialect: str, warehouse: Scripted
    ) -> None:
        plan = warehouse.plan(
            [of_table("row-filter", "r", row_filters=("no filter at all",)), of_column("deny", "c", "r")]
        )
        assert any("FALSE" in text for text in changes(plan)), dialect
        assert any("row filter" in finding.description for finding in plan.findings)

    @pytest.mark.parametrize(("dialect", "warehouse"), ALL, ids=IDS)
    def test_a_table_that_is_masked_whole_shows_no_rows(self, dialect: str, warehouse: Scripted) -> None:
        """Its other columns are not known, and would be in the clear."""
        plan = warehouse.plan([of_table("mask", "r", mask="show-last-4"), of_column("deny", "c", "r")])
        assert any("FALSE" in text for text in changes(plan)), dialect
        assert any("masked" in finding.description for finding in plan.findings)

    @pytest.mark.parametrize(("dialect", "warehouse"), ALL, ids=IDS)
    def test_a_name_with_too_few_parts_is_reported(self, dialect: str, warehouse: Scripted) -> None:
        plan = warehouse.plan([of_table("allow", "r", table=("customers",))])
        assert not plan.steps, dialect
        assert any("three" in one.description or "3 parts" in one.description for one in plan.findings)

    @pytest.mark.parametrize(("dialect", "warehouse"), ALL, ids=IDS)
    def test_what_is_withdrawn_is_taken_back(self, dialect: str, warehouse: Scripted) -> None:
        texts = [text.lower() for text in changes(warehouse.plan(USUAL))]
        for name in ("phone", "mail"):
            assert any(name in text and ("unset" in text or "drop mask" in text or "= []" in text) for text in texts), (
                dialect
            )
        assert any("old" in text and "drop" in text for text in texts)

    @pytest.mark.parametrize(("dialect", "warehouse"), ASKING, ids=IDS[:2])
    @pytest.mark.parametrize("kind", ["", "mytype", "x; DROP TABLE y"])
    def test_a_column_of_an_unknown_type_hides_the_rows_from_whom_it_is_restricted(
        self, dialect: str, warehouse: Scripted, kind: str
    ) -> None:
        plan = warehouse.plan(
            [
                of_table("allow", "clear", "masked"),
                of_column("mask", "c", "masked", mask="show-last-4", column_type=kind),
            ]
        )
        body = [text for text in changes(plan) if "RETURNS BOOLEAN" in text]
        assert all("NOT (" in text and "masked" in text.lower().partition(") and")[0] for text in body), dialect
        assert "DROP TABLE" not in "".join(changes(plan))
        assert any("data_type" in finding.description for finding in plan.findings)

    @pytest.mark.parametrize(("dialect", "warehouse"), ASKING, ids=IDS[:2])
    @pytest.mark.parametrize("mask", MASK_ACTIONS)
    @pytest.mark.parametrize("kind", list(SHOWN))
    def test_every_mask_has_the_type_of_its_column_or_is_null(
        self, dialect: str, warehouse: Scripted, mask: str, kind: str
    ) -> None:
        plan = warehouse.plan([of_table("allow", "r"), of_column("mask", "c", "r", mask=mask, column_type=kind)])
        made = next(text for text in changes(plan) if "val " in text)
        signature = re.search(r"\(val (.+?)\) RETURNS (.+?) (?:->|RETURN) ", made)
        assert signature is not None
        assert signature[1] == signature[2]
        value = made.split(" THEN ", 1)[1].rsplit(" ELSE NULL END", 1)[0]
        assert (value != "NULL") == (mask in SHOWN[kind]), dialect
        if value != "NULL":
            assert isinstance(sqlglot.parse_one(value, read=dialect), exp.Cast)
            assert value.endswith(f" AS {signature[1]})")

    @pytest.mark.parametrize(("dialect", "warehouse"), ALL, ids=IDS)
    def test_lily_does_not_claim_to_have_applied_anything(self, dialect: str, warehouse: Scripted) -> None:
        assert warehouse.inventory() is None, dialect
        with pytest.raises(Terminal, match="does not connect"):
            warehouse.apply(warehouse.plan(USUAL))


class TestViews:
    DECISIONS = (
        of_table("allow", "clear", "masked", table_kind="view"),
        of_table("row-filter", "filtered", row_filters=("a = 1",), table_kind="view"),
        of_column("mask", "email", "masked", mask="show-last-4", table_kind="view"),
    )

    @pytest.mark.parametrize(("dialect", "warehouse"), [DATABRICKS, BIGQUERY], ids=IDS[1:])
    def test_only_who_may_read_all_of_it_is_granted_a_view_that_cannot_be_masked(
        self, dialect: str, warehouse: Scripted
    ) -> None:
        """A group may have members for whom something is restricted."""
        plan = warehouse.plan([*self.DECISIONS, of_table("allow", "ann", kind="user", table_kind="view")])
        verbs = [text.split()[0] for text in changes(plan) if "SCHEMA" not in text]
        assert verbs == ["REVOKE"] * 4 + ["GRANT"], dialect
        assert "ann" in changes(plan)[-1]
        assert " ON VIEW " in changes(plan)[-1]
        assert any("view" in finding.description for finding in plan.findings)
        everybody = warehouse.plan([of_table("allow", "a", "b", table_kind="view")])
        assert len(changes(everybody, "GRANT ")) == 2

    def test_snowflake_masks_views_too(self) -> None:
        plan = SNOWFLAKE[1].plan(self.DECISIONS)
        assert one(plan, "SET MASKING POLICY").startswith("ALTER VIEW ")
        assert one(plan, "ADD ROW ACCESS POLICY").startswith("ALTER VIEW ")


class TestBigQuery:
    """Its grants add up, so a member of two groups would have the more permissive of both."""

    def test_groups_have_the_strictest_of_all_and_users_their_own(self) -> None:
        plan = BIGQUERY[1].plan(
            [
                of_table("allow", "a", "b", kind="group"),
                of_table("allow", "ann", kind="user"),
                of_column("mask", "email", "b", kind="group", mask="sha-256-global"),
            ]
        )
        raw = grantees(plan, "RAW_DATA_ACCESS_POLICY")
        assert raw == ["principal://goog/subject/ann@example.org"]
        assert grantees(plan, "SHA256") == [f"principalSet://goog/group/{name}@example.org" for name in ("a", "b")]
        assert any("strictest" in finding.description for finding in plan.findings)

    def test_a_user_with_a_filter_does_not_get_the_rows_of_its_groups(self) -> None:
        plan = BIGQUERY[1].plan(
            [
                of_table("allow", "bi", kind="group"),
                of_table("row-filter", "ann", kind="user", row_filters=("country = 'DE'",)),
                of_table("deny", "eve", kind="user"),
            ]
        )
        rows = one(plan, "ROW ACCESS POLICY")
        assert 'NOT IN ("ann@example.org", "eve@example.org")' in rows
        assert "user:eve" not in rows

    def test_masks_that_bigquery_has_not_are_null(self) -> None:
        plan = BIGQUERY[1].plan(
            [of_table("allow", "r"), of_column("mask", "at", "r", mask="truncate-to-month", column_type="DATE")]
        )
        assert "ALWAYS_NULL" in one(plan, "CREATE DATA_POLICY")

    def test_a_policy_with_other_grantees_is_another_policy(self) -> None:
        """A grantee who is no longer one would otherwise keep the grant."""
        names = {
            one(
                BIGQUERY[1].plan([of_table("allow", *users, kind="user"), of_column("deny", "c", *users, kind="user")]),
                "CREATE DATA",
            )
            for users in (("ann",), ("ann", "bob"), ("bob",))
        }
        assert len(names) == 3


def grantees(plan: Plan, rule: str) -> list[str]:
    policy = one(plan, f'"{rule}"').split("`")[1]
    granted = one(plan, f"GRANT FINE_GRAINED_READ ON DATA_POLICY `{policy}`")
    return [part.strip('"') for part in granted.split(" TO ")[1].split(", ")]


def test_the_type_of_a_column_that_a_filter_compares_is_the_catalogues() -> None:
    known = (TargetColumn("id", ""), TargetColumn("Country", "CHAR(2)"))
    plan = SNOWFLAKE[1].plan([of_table("row-filter", "r", row_filters=("country = 'DE'",), columns=known)])
    assert "(a1 CHAR(2))" in one(plan, "CREATE ROW ACCESS")


class TestSnowflake:
    def test_names_without_quotes_are_in_upper_case_unless_stated_otherwise(self) -> None:
        assert '"SHOP"."PUBLIC"."CUSTOMERS"' in one(SNOWFLAKE[1].plan([of_table("allow", "r")]), "GRANT")
        exact = Snowflake(SnowflakeConfig(case="exact"))
        assert '"shop"."public"."customers"' in one(exact.plan([of_table("allow", "r")]), "GRANT")
        assert '"Shop"' in one(SNOWFLAKE[1].plan([of_table("allow", "r", table=("Shop", "p", "t"))]), "GRANT")

    def test_grants_can_be_left_to_others(self) -> None:
        plan = Snowflake(SnowflakeConfig(grants=False)).plan(USUAL)
        assert not [text for text in changes(plan) if text.startswith(("GRANT", "REVOKE"))]

    def test_a_row_policy_uses_any_column_that_is_known(self) -> None:
        plan = SNOWFLAKE[1].plan([of_table("deny", columns=(TargetColumn("x", ""), TargetColumn("y", "DATE")))])
        assert "-> FALSE" in one(plan, "CREATE ROW ACCESS")
        assert 'ON ("Y")' in one(plan, "ADD ROW ACCESS")

    def test_a_table_without_a_known_column_cannot_have_a_row_policy_which_is_reported(self) -> None:
        plan = SNOWFLAKE[1].plan([of_table("allow", "r")])
        assert not changes(plan, "ROW ACCESS")
        assert any("no column" in finding.description for finding in plan.findings)


@pytest.mark.parametrize(("_dialect", "warehouse"), ASKING, ids=IDS[:2])
def test_a_row_filter_of_a_column_beside_that_of_its_table_hides_the_column(_dialect: str, warehouse: Any) -> None:
    of_rows, own = "country = 'DE'", "country <> 'FR'"
    shared = of_column("row-filter", "email", "r", row_filters=(of_rows, own))
    plan = warehouse.plan([of_table("row-filter", "r", row_filters=(of_rows,)), shared])
    (value,) = [change for change in changes(plan) if "(val " in change]
    assert "THEN val" not in value
    assert "THEN CAST(val" not in value
    assert any("in every row" in finding.description for finding in plan.findings)
