"""The policies that are about the engine itself: starting queries, sessions, the tables in which it describes itself,
and schemas and catalogues, in which objects may be created."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lily.enforce.ranger.entries import ACCESS, ALL, Entry, Values, access, can_be_named, only
from lily.enforce.ranger.rights import CHANGES, Rights, Ruling
from lily.enforce.ranger.subjects import Subjects
from lily.enforce.trino.objects import BUILTIN, INFORMATION_SCHEMA, SYSTEM
from lily.policy import Action, PolicyIndex
from lily.policy.names import EVERYONE

Resources = dict[str, Values]
Named = tuple[Resources, Entry]
ITSELF = "{USER}"  # a macro of Ranger: the user who asks
_EVERYONE = Rights(frozenset({EVERYONE}))
# Trino shows in these what the user may see of the objects that they describe.
_FILTERED = (("jdbc", ALL), ("metadata", ALL), (INFORMATION_SCHEMA, ALL), ("runtime", only("queries")))


def operator(ruling: Ruling, action: Action) -> Rights:
    """The right to operate the engine, by the asset that stands for it."""
    return ruling.of_names(action, (SYSTEM,)).in_clear()


def _anything(index: PolicyIndex) -> Rights:
    """Everyone whom a policy allows something of the data."""
    policies = (one for one in index.policies.values() if one.effect == "allow" and "data" in one.applies_to)
    return Rights(frozenset(subject.key for policy in policies for subject in policy.subjects))


def engine_policies(ruling: Ruling) -> Iterator[Named]:
    yield {"queryid": ALL}, access([("execute", _EVERYONE)])
    yield {"trinouser": only(ITSELF)}, access([("impersonate", _EVERYONE)])
    yield {"systemproperty": ALL}, access([("alter", _EVERYONE)])
    reads, writes = operator(ruling, "READ"), operator(ruling, "WRITE")
    yield {"trinouser": ALL}, access([("impersonate", writes)])
    yield {"sysinfo": ALL}, access([("read_sysinfo", reads), ("write_sysinfo", writes)])
    visible = _anything(ruling.index)
    yield {"catalog": ALL, "sessionproperty": ALL}, access([("alter", visible)])
    functions = {"catalog": only(SYSTEM), "schema": only(BUILTIN), "schemafunction": ALL}
    yield functions, access([("execute", visible), ("show", visible)])
    yield from _described(ALL, ((INFORMATION_SCHEMA, ALL),), visible)
    yield from _described(only(SYSTEM), _FILTERED, visible)
    yield from _described(only(SYSTEM), (("runtime", Values(("queries",), others=True)),), reads)


def disabled_policies(subjects: Subjects) -> Iterator[Named]:
    """Disabled users can neither start a query nor lend their rights to a view."""
    tables = {"catalog": ALL, "schema": ALL, "table": ALL}
    for resources, accesses in (
        ({"queryid": ALL}, ("execute",)),
        ({"trinouser": ALL}, ("impersonate",)),
        ({"sysinfo": ALL}, ("read_sysinfo", "write_sysinfo")),
        (tables, ("select", "show", "insert", "create", "delete", "drop", "alter")),
        ({**tables, "column": ALL}, ("select",)),
    ):
        yield resources, Entry(ACCESS, deny=((accesses, subjects.disabled),) if subjects.disabled else ())


def container_policies(tables: Mapping[tuple[str, str], Sequence[str]], ruling: Ruling) -> Iterator[Named]:
    """`tables` has the catalogued tables of each catalogue and schema that is catalogued. New tables are decided by
    their schema, and tables that are in the catalogue have entries of their own."""
    for catalog in sorted({catalog for catalog, _ in tables if can_be_named(catalog)}):
        yield from _hidden(catalog, ruling.of("READ", (catalog,)))
    for (catalog, schema), below in tables.items():
        if not can_be_named(catalog, schema, *below):
            continue
        write, delete = (ruling.of(action, (catalog, schema)).in_clear() for action in CHANGES)
        place: Resources = {"catalog": only(catalog), "schema": only(schema)}
        yield place, access([("create", write), ("drop", delete)])
        yield {**place, "table": Values(tuple(sorted(below)), others=True)}, access([("create", write)])


def _hidden(catalog: str, read: Rights) -> Iterator[Named]:
    """To those to whom a policy denies the catalogue, Trino describes nothing of it."""
    if read.deny:
        denied = Entry(ACCESS, deny=((("select",), read.deny),))
        yield _columns(only(catalog), only(INFORMATION_SCHEMA), ALL), denied


def _described(catalog: Values, schemas: Iterable[tuple[str, Values]], rights: Rights) -> Iterator[Named]:
    for schema, tables in schemas:
        yield _columns(catalog, only(schema), tables), access([("select", rights)])
        place = {"catalog": catalog, "schema": only(schema), "table": tables}
        yield place, access([("select", rights), ("show", rights)])


def _columns(catalog: Values, schema: Values, tables: Values) -> Resources:
    return {"catalog": catalog, "schema": schema, "table": tables, "column": ALL}
