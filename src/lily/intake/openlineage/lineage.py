"""What an event states about the flow of data: edges, and the datasets between which edges may have to be assumed."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.column_lineage import ColumnLineage
from lily.intake.openlineage.common_tables import CommonTables
from lily.intake.openlineage.datasets import Stated, state_dataset
from lily.intake.openlineage.edge_claims import EdgeClaims
from lily.intake.openlineage.explicit_lineage import ExplicitLineage
from lily.intake.openlineage.facets import Json, objects
from lily.intake.openlineage.given_names import GivenNames
from lily.intake.openlineage.kept_facets import facets_of_dataset, kept_facets
from lily.intake.openlineage.lifecycle import LifecycleChanges
from lily.intake.openlineage.loose_flows import LooseFlows
from lily.intake.openlineage.run_query import SqlFacet, common_tables, is_covered, read_sql, run_query
from lily.intake.openlineage.schemas import dropped_schemas, limited, read_schemas, scoped, written_schemas
from lily.intake.openlineage.symlinks import Symlinks, resolve_symlinks, same_flows
from lily.lineage.assumed_edges import MAX_ASSUMED, unexplained
from lily.model.edges import Claim, DatasetSchema, EdgeKey, RunDatasets
from lily.model.errors import Problem
from lily.model.run_queries import RunQuery, combines_queries
from lily.model.table_changes import NO_CHANGES, TableChanges

NO_FACETS: Json = {}
_LINEAGE_FACETS = frozenset({"lineage", "columnLineage"})


class Lineage(NamedTuple):
    claims: tuple[Claim, ...]
    datasets: RunDatasets
    understood: bool  # all facets about lineage could be read
    schemas: tuple[DatasetSchema, ...] = ()
    facets: Json = NO_FACETS
    renamed: tuple[EdgeKey, ...] = ()
    query: RunQuery | None = None  # explains what the facets of the outputs do not
    tables: TableChanges = NO_CHANGES
    names: tuple[str, ...] = ()  # of ends that the event does not state

    @property
    def states_any(self) -> bool:
        """Whether there are schemas, edges, edges to assume, targets that are stated to have no source, facets to keep,
        or tables that were dropped or renamed."""
        between = self.datasets.inputs and self.datasets.outputs
        changes = self.schemas or any(self.tables)
        return bool(changes or self.claims or self.datasets.explained or between or self.query or self.facets)


def run_lineage(
    collector: AssetCollector, event: Json, job: Stated | None, *, happened: bool, starts: bool = False
) -> Lineage:
    """States the inputs and outputs of a run or job. A lineage facet of the job explains all of its outputs. Drops and
    renames are applied if they `happened`: the run has not failed or only started. The SQL of a run that `starts`
    waits until it completes."""
    symlinks = resolve_symlinks(collector, event)
    inputs = objects(collector.checker, event.get("inputs"), "inputs")
    outputs = objects(collector.checker, event.get("outputs"), "outputs")
    read = [state_dataset(collector, dataset, f"inputs[{at}]") for at, dataset in enumerate(inputs)]
    written = [state_dataset(collector, dataset, f"outputs[{at}]") for at, dataset in enumerate(outputs)]
    claims, explicit = EdgeClaims(collector), ExplicitLineage(collector, job.named if job else None)
    loose = LooseFlows(collector)
    of_job = job.facets.read("lineage", explicit.of_job) if job else None
    claims.explain(of_job)
    sql = read_sql(job) if of_job is None else None
    common = common_tables(sql, [*inputs, *outputs])
    known = [
        found is None
        or _read_facets((claims, loose), explicit, collector, found, common, schema=(sql and found.columns) or ())
        for found in written
    ]
    read_ids, written_ids = _ids(collector, read), _ids(collector, written)
    sources = claims.sources() | loose.sources()
    if not is_covered(sql, frozenset(read_ids).difference(written_ids), sources, is_loose=bool(loose)):
        in_full = claims.explained()
        known = [found is None or collector.id(found.named.qualified_name) in in_full for found in written]
    names = GivenNames(collector, symlinks, inputs, outputs)
    query = run_query(sql, names, known, starts=starts) if sql and (happened or starts) else None
    query = _settle(loose, claims, sql, query, happened=happened)
    _connect_names(claims, symlinks, [*read, *written])
    explained = claims.explained() if of_job is None else tuple(dict.fromkeys([*claims.explained(), *written_ids]))
    understood = not any(_LINEAGE_FACETS & found.facets.spoiled for found in [job, *written] if found)
    schemas = (*read_schemas(collector, event, read), *written_schemas(collector, event, written))
    facets, changes = kept_facets(collector, event, read, written), LifecycleChanges(collector)
    for output in filter(None, written if happened else ()):
        changes.apply(output)
    tables = scoped(changes.finish(), event)
    gone = {collector.id(named.qualified_name) for named in changes.dropped}
    datasets = RunDatasets(read_ids, tuple(asset for asset in written_ids if asset not in gone), explained)
    schemas = limited(collector, _without_dropped(collector, event, schemas, changes))
    found = claims.claims()
    _warn_of_too_many(collector, datasets, found)
    return Lineage(found, datasets, understood, schemas, facets, tuple(changes.renamed), query, tables, claims.names())


def dataset_lineage(collector: AssetCollector, event: Json, dataset: Stated, symlinks: Symlinks) -> Lineage:
    """What an event of a dataset states about its sources, without a job."""
    claims, loose = EdgeClaims(collector), LooseFlows(collector)
    _read_facets((claims, loose), ExplicitLineage(collector, None), collector, dataset, CommonTables())
    loose.state(claims)
    _connect_names(claims, symlinks, [dataset])
    understood = not _LINEAGE_FACETS & dataset.facets.spoiled
    changes = LifecycleChanges(collector)
    changes.apply(dataset)
    tables = scoped(changes.finish(), event)
    schemas = _without_dropped(collector, event, written_schemas(collector, event, [dataset]), changes)
    datasets = RunDatasets(explained=claims.explained())
    facets = facets_of_dataset(collector, event)
    renamed, schemas = tuple(changes.renamed), limited(collector, schemas)
    return Lineage(claims.claims(), datasets, understood, schemas, facets, renamed, None, tables, claims.names())


def _without_dropped(
    collector: AssetCollector, event: Json, schemas: Iterable[DatasetSchema], changes: LifecycleChanges
) -> tuple[DatasetSchema, ...]:
    """The schemas, where a dataset that no longer exists has no columns."""
    gone = {collector.id(named.qualified_name) for named in changes.dropped}
    kept = [schema for schema in schemas if schema.dataset_id not in gone]
    return (*kept, *dropped_schemas(collector, event, changes.dropped))


def _settle(
    loose: LooseFlows, claims: EdgeClaims, sql: SqlFacet | None, query: RunQuery | None, *, happened: bool
) -> RunQuery | None:
    """Leaves the loose flows to the query, if there is one. Of a run that failed, SQL that combines queries is not
    analyzed, and columnLineage may have columns of any of these."""
    if query is not None and not loose.are_too_long:
        loose.state_datasets(claims, text=query.text)
        return loose.leave_to(query)
    if sql is not None and not happened and combines_queries(sql.text):
        loose.state_datasets(claims, text=sql.text)
    else:
        loose.state(claims)
    return query


def _read_facets(
    into: tuple[EdgeClaims, LooseFlows],
    explicit: ExplicitLineage,
    collector: AssetCollector,
    output: Stated,
    common: CommonTables,
    *,
    schema: Collection[str] = (),
) -> bool:
    """Returns whether the facets explain what the columns of the output are derived from. `schema` has the columns that
    SQL can explain."""
    claims, loose = into
    columns = ColumnLineage(collector, output.named, common, schema)
    of_dataset = output.facets.read("lineage", partial(explicit.of_dataset, dataset=output.named))
    claims.explain(of_dataset)
    flows = output.facets.read("columnLineage", columns)
    if flows is None or of_dataset is not None:
        claims.add([*flows, *columns.loose] if flows is not None else (), columns.targets)
    else:
        claims.add(flows, [flow.target for flow in flows])
        loose.take(columns, flows)
    return of_dataset is not None or (bool(columns.targets) and not columns.is_doubtful)


def _connect_names(claims: EdgeClaims, symlinks: Symlinks, datasets: Sequence[Stated | None]) -> None:
    for dataset in filter(None, datasets) if symlinks.others else ():
        others = symlinks.others.get(dataset.named.qualified_name, ())
        claims.equate(same_flows(dataset.named, dataset.columns, others))


def _warn_of_too_many(collector: AssetCollector, datasets: RunDatasets, claims: Sequence[Claim]) -> None:
    inputs, outputs = len(datasets.inputs), len(unexplained(datasets, (claim.key for claim in claims)))
    if inputs * outputs > MAX_ASSUMED:
        described = (
            f"{outputs} outputs are not explained, and to derive each of them from all {inputs} inputs would be more "
            f"than {MAX_ASSUMED} edges; none was assumed. Send columnLineage or lineage facets, or one job per output"
        )
        collector.warnings.append(Problem("TOO_MANY_EDGES", described, "outputs"))


def _ids(collector: AssetCollector, stated: list[Stated | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(collector.id(found.named.qualified_name) for found in stated if found is not None))
