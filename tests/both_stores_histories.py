"""Histories without authority, step by step, each of which took a protective tag away in a version of Lily that had one
fault. For the state machine in `tests/both_stores_machine.py`."""

from typing import Any

Step = tuple[str, dict[str, Any]]  # a rule of the machine, and what it draws
A_TABLE_WITH_COLUMNS = {"tagged": [("t", "pii")], "placed": [], "linked": [], "authorised": False}
A_COLUMN_WITH_LINEAGE = {**A_TABLE_WITH_COLUMNS, "linked": [["t.a", "r"]]}
ALL: list[Step] = [
    ("the_hot_query_goes_on", {"most": 9}),
    ("the_lake_query_writes_a_batch", {"most": 9, "crash": False}),
]
NEXT: Step = ("propagation_follows", {})
PLACED: Step = ("the_lake_query_promotes_between_batches", {})
NOWHERE: Step = ("the_source_states_a_plain_column_in_bulk", {"name": "t.a", "parent": None, "minutes": 4.9})
AWAY: Step = ("the_source_moves", {"place": ("t.a", "u"), "minutes": 0})
RETYPED: Step = (
    "the_source_states_another_type",
    {"name": "t.a", "kind": "table", "parent": "absent", "minutes": 0, "single": False},
)
HISTORIES: dict[str, tuple[dict[str, Any], list[Step]]] = {
    "a person moves a column": (
        A_TABLE_WITH_COLUMNS,
        [("a_person_moves", {"name": "t.a", "parent": "u", "minutes": 0}), *ALL, PLACED],
    ),
    "a bulk row states no parent": (A_TABLE_WITH_COLUMNS, [NOWHERE, *ALL, PLACED]),
    "a bulk row states no parent of a column with lineage": (
        A_COLUMN_WITH_LINEAGE,
        [NOWHERE, *ALL, NEXT, PLACED, NEXT],
    ),
    "the hot lane moves a column before the lake is read": (
        A_COLUMN_WITH_LINEAGE,
        [AWAY, ALL[0], NEXT, ALL[1], PLACED, NEXT],
    ),
    "a column is promoted and then loses its parent in bulk": (
        A_COLUMN_WITH_LINEAGE,
        [("a_person_edits_what_is_no_tag", {"name": "t.a"}), *ALL, NEXT, PLACED, NOWHERE, *ALL, PLACED, NEXT],
    ),
    "the table takes back a column that was elsewhere": (
        {**A_COLUMN_WITH_LINEAGE, "tagged": [("u", "gdpr")], "placed": [("t.a", "u")]},
        [
            ("the_source_states_all_columns_of_a_table", {"table": "t", "columns": {"a"}, "minutes": 0}),
            *ALL,
            NEXT,
            PLACED,
            NEXT,
        ],
    ),
    "the source deletes what others derive from": (
        A_COLUMN_WITH_LINEAGE,
        [("the_source_deletes", {"name": "t", "minutes": 0}), *ALL, NEXT, PLACED, NEXT],
    ),
    "a batch is written twice, then compacted": (
        A_COLUMN_WITH_LINEAGE,
        [
            NOWHERE,
            ("the_lake_query_writes_a_batch", {"most": 9, "crash": True}),
            *ALL,
            ("the_lake_is_compacted", {}),
            PLACED,
            NEXT,
        ],
    ),
    "an edge names a column by its id before the lake is read": (
        A_TABLE_WITH_COLUMNS,
        [
            (
                "a_run_claims",
                {"job": "one", "run": "1", "claims": [(["r", "t.b"], False)], "complete": True, "minutes": 0},
            ),
            NEXT,
            PLACED,
            NEXT,
        ],
    ),
    "a run drops an edge and tags are left out": (
        {**A_COLUMN_WITH_LINEAGE, "tagged": [("t.a", "gdpr")]},
        [
            ("a_person_states_all_tags", {"name": "t.a", "tags": [], "minutes": 0}),
            ("an_edge_is_deleted", {"ends": ["t.a", "r"], "kind": "derived-from", "layer": "source", "minutes": 4.9}),
            *ALL,
            NEXT,
            PLACED,
            NEXT,
        ],
    ),
    "a late move adds a parent that is held": (
        {**A_COLUMN_WITH_LINEAGE, "tagged": [("u", "gdpr")]},
        [
            ("the_source_states_tags_of_a_column", {"name": "t.a", "tags": None, "minutes": 0, "single": True}),
            *ALL,
            NEXT,
            PLACED,
            NEXT,
            ("the_source_moves", {"place": ("t.a", "u"), "minutes": -30}),
            *ALL,
            NEXT,
        ],
    ),
    "a column of the lake is stated to be a table": (A_COLUMN_WITH_LINEAGE, [RETYPED, *ALL, NEXT, PLACED, NEXT]),
    "a column is stated to be a table before it has lineage": (
        A_TABLE_WITH_COLUMNS,
        [
            RETYPED,
            ALL[0],
            (
                "an_edge_is_stated",
                {"ends": ["t.a", "r"], "kind": "derived-from", "layer": "source", "settings": {}, "minutes": 0},
            ),
            NEXT,
            ALL[1],
            PLACED,
            NEXT,
        ],
    ),
    "a table and then its column without lineage are stated to be dashboards": (
        A_TABLE_WITH_COLUMNS,
        [
            (
                "the_source_states_another_type",
                {"name": "t", "kind": "dashboard", "parent": "absent", "minutes": 0, "single": True},
            ),
            (
                "the_source_states_another_type",
                {"name": "t.a", "kind": "dashboard", "parent": None, "minutes": 0, "single": True},
            ),
            ALL[0],
            ALL[1],
            PLACED,
        ],
    ),
    "a table and then its column are stated to be dashboards": (
        A_COLUMN_WITH_LINEAGE,
        [
            (
                "the_source_states_another_type",
                {"name": "t", "kind": "dashboard", "parent": "absent", "minutes": 0, "single": True},
            ),
            (
                "the_source_states_another_type",
                {"name": "t.a", "kind": "dashboard", "parent": None, "minutes": 0, "single": True},
            ),
            *ALL,
            NEXT,
            PLACED,
            NEXT,
        ],
    ),
    "the lake is ahead of the hot lane": (
        {**A_TABLE_WITH_COLUMNS, "tagged": [("u", "gdpr")]},
        [
            ("the_source_moves", {"place": ("t.a", "u"), "minutes": -5}),
            ALL[1],
            ("the_source_states_all_columns_of_a_table", {"table": "t", "columns": {"a"}, "minutes": 0}),
            ALL[1],
            ALL[0],
            PLACED,
        ],
    ),
}
SETTLED: Step = ("everything_catches_up", {})
A_TAGGED_TABLE: list[Step] = [
    ("who_writes_next", {"authorised": True}),
    ("the_source_states_tags_of_a_table", {"name": "t", "tags": ["pii"], "minutes": -30}),
    ("the_source_states_a_plain_column_in_bulk", {"name": "t.a", "parent": "own", "minutes": -30}),
]
DRAWN: Step = (
    "an_edge_is_stated",
    {"ends": ["t.a", "r"], "kind": "derived-from", "layer": "user", "settings": {}, "minutes": -5},
)
WITH_AUTHORITY: dict[str, list[Step]] = {
    "a bulk row states no parent of a column with lineage": [*A_TAGGED_TABLE, DRAWN, SETTLED, NOWHERE, SETTLED],
    "a bulk row states no parent of a column that was promoted": [
        *A_TAGGED_TABLE,
        DRAWN,
        ("a_person_edits_what_is_no_tag", {"name": "t.a"}),
        SETTLED,
        NOWHERE,
        SETTLED,
    ],
    "a column gets its table only after its lineage": [
        A_TAGGED_TABLE[0],
        A_TAGGED_TABLE[1],
        ("the_source_states_a_plain_column_in_bulk", {"name": "t.a", "parent": "absent", "minutes": -30}),
        DRAWN,
        SETTLED,
        ("the_source_states_a_plain_column_in_bulk", {"name": "t.a", "parent": "own", "minutes": 0}),
        SETTLED,
    ],
}
