"""People and their mail addresses, in Trino and in Lily's catalogue, and who may see what of them."""

from tests.contract.access import create, policy
from tests.contract.door import Door
from tests.engines.trino import Trino

UPSTREAM = "crm.public.persons.mail"
PEOPLE = "memory.default.people"
COLUMNS = {
    "id": "bigint",
    "email": "varchar",
    "country": "varchar(2)",
    "born": "date",
    "seen": "timestamp(3) with time zone",
    "pay": "decimal(10,2)",
    "home": "row(city varchar, zip varchar)",
}
ROWS = """
(1, 'ada@example.org', 'DE', date '1990-05-17', timestamp '2026-01-02 03:04:05 UTC', 10.50, row('Bonn', '1')),
(2, 'bob@example.org', 'FR', date '1980-11-30', timestamp '2026-06-07 08:09:10 UTC', 20.00, row('Nice', '2'))
"""
CLEAR = [["ada@example.org"], ["bob@example.org"]]
MASKED = [["ada@xxxxxxxxxxx"], ["bob@xxxxxxxxxxx"]]
EMAILS = "select email from people order by id"
WIDE = [f"c{number}" for number in range(250)]
WIDE_TABLE, WIDE_SECRET = "memory.default.wide", "memory.default.wide.c7"
EVERYTHING = "select {}, json_format(cast(home as json)) from people order by born".format(  # noqa: S608 - of names above
    ", ".join(f"cast({name} as varchar)" for name in COLUMNS if name != "home")
)
ROOT, ANALYST, BY_GROUP, OFFICER, REGIONAL, STRANGER = "root", "ann", "gus", "olga", "rita", "sam"


def is_denied(message: str) -> bool:
    """Where columns are hidden, a table without any is said not to exist."""
    return "Access Denied" in message or "Relation not found or not allowed" in message


def fill_lily(door: Door) -> None:
    """Policies first: tables are catalogued before anyone reads them, and columns without tags stay plain."""
    everything = ["READ", "WRITE", "DELETE"]
    for asset in ("memory", "system"):
        create(door, "/policies", policy({"user": ROOT}, {"asset": asset}, actions=everything))
    create(door, "/roles", {"name": "analyst", "groups": ["bi-team"]})
    create(door, "/roles", {"name": "officer"})
    create(door, "/users", {"name": ANALYST, "roles": ["analyst"]})
    create(door, "/users", {"name": OFFICER, "roles": ["officer"]})
    for role in ("analyst", "officer"):
        create(door, "/policies", policy({"role": role}, {"asset": "memory"}))
    create(door, "/policies", policy({"user": REGIONAL}, {"asset": "memory"}))
    german = "country = 'DE'"
    create(door, "/policies", policy({"user": REGIONAL}, {"asset": PEOPLE}, "row-filter", row_filter=german))
    for subject in ({"role": "analyst"}, {"user": REGIONAL}):
        create(door, "/policies", policy(subject, {"tag": "PII"}, "mask", mask="show-first-4"))
    create(door, "/policies", policy({"user": "*"}, {"tag": "Secret"}, "deny"))
    create(
        door, "/policies", policy({"role": "analyst"}, {"asset": "memory.default.made"}, actions=["WRITE", "DELETE"])
    )
    for name, kind, parent in (
        ("system", "database", None),
        ("memory", "database", None),
        ("memory.default", "schema", "memory"),
        (PEOPLE, "table", "memory.default"),
        (WIDE_TABLE, "table", "memory.default"),
        (WIDE_SECRET, "column", WIDE_TABLE),
        (f"{PEOPLE}.pay", "column", PEOPLE),
        ("memory.default.by_definer", "view", "memory.default"),
        ("memory.default.by_invoker", "view", "memory.default"),
        ("memory.default.made", "table", "memory.default"),
        ("crm.public.persons", "table", None),
        (UPSTREAM, "column", "crm.public.persons"),
    ):
        door.ingest(name, kind, **({"parent": parent} if parent else {}))
    edges = [(UPSTREAM, f"{PEOPLE}.email")]
    edges += [(f"{PEOPLE}.email", f"memory.default.{view}.email") for view in ("by_definer", "by_invoker")]
    listed = [{"from": start, "to": end, "relationship_type": "derived-from"} for start, end in edges]
    door.change("POST", "/lineage", {"edges": listed})


def fill_trino(server: Trino) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    server.query(ROOT, f"create table people ({columns})")
    server.query(ROOT, f"insert into people values {ROWS}")  # noqa: S608 - of constants
    server.query(ROOT, f"create table wide ({', '.join(f'{name} integer' for name in WIDE)})")
    numbers = ", ".join(str(number) for number in range(len(WIDE)))
    server.query(ROOT, f"insert into wide values ({numbers})")  # noqa: S608 - of constants
    server.query(ROOT, "create view by_definer as select id, email from people")
    server.query(ROOT, "create view by_invoker security invoker as select id, email from people")
