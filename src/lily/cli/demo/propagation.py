"""Steps about lineage: a column is tagged PII, the tag reaches dashboards, is explained, and is removed again."""

from collections.abc import Callable, Collection
from itertools import pairwise

from lily.cli.demo import contact_lineage
from lily.cli.demo.contact_lineage import CALL_SHEET, DASHBOARD, EMAIL, HASH, PHONE, READERS, SUPPRESSED
from lily.cli.demo.step import DemoContext, Step, StepResult, expect_equal, require
from lily.client import Receipt, Tag, Travel

WAIT = 60  # seconds: a machine that is busy with other work is slow, not broken
TAG = "PII"
REASON = "tokenised before it is sent"

GRAPH, DRY_RUN, PROPAGATION_TIME, EXPLANATION = (
    "a lineage graph, sent to readable",
    "a dry run of a tag",
    "a tag along the lineage, sent to readable everywhere",
    "the explanation of a tag",
)


def create_graph(demo: DemoContext) -> StepResult:
    """Lineage comes from three sources: an OpenLineage run, SQL, and POST /lineage."""
    assets = list(contact_lineage.assets())

    def send() -> tuple[int, int, int]:
        ingested = demo.lily.ingest_many(assets, wait=WAIT)
        run = demo.lily.take_lineage(contact_lineage.loading_run())
        sql = demo.lily.relate_by_sql(contact_lineage.models(), "snowflake")
        # These edges go to every partition of the log and are sent last: once they can be read, so can the others.
        posted = demo.lily.relate(contact_lineage.dashboards(), wait=WAIT)
        readable = ingested.readable and posted.readable
        require(that=readable, failure=f"the graph could not be read within {WAIT} seconds")
        return run.edges, len(sql.edges), posted.accepted

    (from_run, from_sql, posted), seconds = demo.timed(GRAPH, send)
    edges = f"{from_run} edges from an OpenLineage run, {from_sql} from SQL, {posted} by POST"
    return StepResult(f"[b]{len(assets)} assets[/] from a CRM to dashboards, and their lineage: {edges}", seconds)


def dry_run(demo: DemoContext) -> StepResult:
    found, seconds = demo.timed(DRY_RUN, lambda: list(demo.lily.would_reach(EMAIL, TAG)))
    require(that=len(found) >= 200, failure=f"{TAG} on {EMAIL} would reach only {len(found)} assets")
    expect_equal("the number of assets that already have the tag", sum(reach.already for reach in found), 0)
    deepest = max(reach.depth for reach in found)
    _expect_tagged(demo, set())
    text = f"A dry run: {TAG} on [b]{EMAIL}[/] would reach {len(found)} assets, up to {deepest} edges away"
    return StepResult(text, seconds)


def tag_column(demo: DemoContext) -> StepResult:
    expected = {str(reach.qualified_name) for reach in demo.lily.would_reach(EMAIL, TAG)}
    travel, seconds = _propagated(demo, lambda: demo.lily.add_tag(EMAIL, TAG, wait=WAIT))
    expect_equal("the number of reached assets in the receipt", travel.reached, len(expected))
    _expect_tagged(demo, {EMAIL} | expected)
    boards = sum(name.startswith("bi.") for name in expected)
    text = f"Tagged {TAG}: [b]{travel.reached} assets[/] get the tag, {boards} of them charts and dashboards"
    return StepResult(text, seconds)


def explain(demo: DemoContext) -> StepResult:
    tag, seconds = demo.timed(EXPLANATION, lambda: _derived(demo, DASHBOARD))
    path = _names(demo, tag.path)
    expect_equal("the ends of the path", (path[0], path[-1], len(path)), (EMAIL, DASHBOARD, tag.depth + 1))
    for start, end in pairwise(path):
        steps = {edge["to"] for edge in demo.lily.lineage(start, depth=1).edges}
        require(that=demo.lily.get(end).metadata_id in steps, failure=f"there is no edge from {start} to {end}")
    return StepResult(f"Why does {DASHBOARD} have it? [i]{' → '.join(path)}[/]", seconds)


def stop_at_mask(demo: DemoContext) -> StepResult:
    tags, seconds = demo.timed(EXPLANATION, lambda: demo.lily.tags(HASH))
    masked = [edge["masking"] for edge in demo.lily.lineage(HASH, direction="upstream", depth=1).edges]
    expect_equal("whether the edge masks", masked, [True])
    require(that=TAG not in {tag.tag for tag in tags}, failure=f"{HASH} is masked but has the tag")
    require(that=TAG not in demo.lily.get(READERS).tags.effective, failure=f"{READERS} shows hashes but has the tag")
    return StepResult(f"The run reported [b]{HASH}[/] as masked: neither it nor {READERS} has the tag", seconds)


def suppress(demo: DemoContext) -> StepResult:
    """Suppressing the tag removes it downstream; undoing that brings it back."""
    before = _tagged(demo)
    downstream = {*contact_lineage.charts("campaign_07"), DASHBOARD}
    travel, seconds = _propagated(demo, lambda: demo.lily.suppress_tag(SUPPRESSED, TAG, REASON, wait=WAIT))
    expect_equal("the number of reached assets in the receipt", travel.reached, len(downstream))
    _expect_tagged(demo, before - downstream - {SUPPRESSED})
    suppressed = _derived(demo, SUPPRESSED)
    expect_equal("the stored reason", (suppressed.suppression or {}).get("reason"), REASON)
    _propagated(demo, lambda: demo.lily.unsuppress_tag(SUPPRESSED, TAG, wait=WAIT))
    _expect_tagged(demo, before)
    effect = f"its {len(downstream)} charts and dashboards lose the tag, and get it back when that is undone"
    return StepResult(f'Suppressed on {SUPPRESSED}, "{REASON}": {effect}', seconds)


def tag_second_column(demo: DemoContext) -> StepResult:
    before = _tagged(demo)
    travel, seconds = _propagated(demo, lambda: demo.lily.add_tag(PHONE, TAG, wait=WAIT))
    expect_equal("the number of tagged assets", len(_tagged(demo)), len(before) + travel.reached + 1)
    origins = _names(demo, _derived(demo, CALL_SHEET, origins=True).origins or ())
    expect_equal("the origins of the tag", sorted(origins), [EMAIL, PHONE])
    return StepResult(f"[b]{PHONE}[/] is tagged as well: {CALL_SHEET} reports both origins", seconds)


def untag_column(demo: DemoContext) -> StepResult:
    before = _tagged(demo)
    travel, seconds = _propagated(demo, lambda: demo.lily.remove_tag(EMAIL, TAG, wait=WAIT))
    after = _tagged(demo)
    expect_equal("the number of assets that lost the tag", len(before - after), travel.reached + 1)
    require(that=DASHBOARD not in after, failure=f"{DASHBOARD} still has the tag")
    expect_equal("the remaining origin", _names(demo, _derived(demo, CALL_SHEET).path)[0], PHONE)
    text = f"Removed from {EMAIL}: {travel.reached} assets lose the tag, and [b]{CALL_SHEET} keeps it[/]"
    return StepResult(text, seconds)


def untag_second_column(demo: DemoContext) -> StepResult:
    travel, seconds = _propagated(demo, lambda: demo.lily.remove_tag(PHONE, TAG, wait=WAIT))
    _expect_tagged(demo, set())
    return StepResult(f"Removed from {PHONE} too: the last {travel.reached} assets lose the tag", seconds)


PROPAGATION = (
    Step("create a lineage graph", create_graph),
    Step("dry-run a tag", dry_run),
    Step("tag a column", tag_column),
    Step("explain a derived tag", explain),
    Step("stop at a mask", stop_at_mask),
    Step("suppress a derived tag", suppress),
    Step("tag a second column", tag_second_column),
    Step("untag the column", untag_column),
    Step("untag the second column", untag_second_column),
)


def _propagated(demo: DemoContext, write: Callable[[], Receipt]) -> tuple[Travel, float]:
    """Runs a write that waits for propagation, and returns its receipt, which counts the assets it reached."""
    receipt, seconds = demo.timed(PROPAGATION_TIME, write)
    require(that=receipt.readable, failure=f"propagation was not finished within {WAIT} seconds")
    travel = demo.lily.travel(receipt.receipt)
    expect_equal("the state of the receipt", travel.state, "applied")
    return travel, seconds


def _tagged(demo: DemoContext) -> set[str]:
    """Returns the assets of these steps that have the tag in effect."""
    found = demo.lily.batch_get([event["attributes"]["qualified_name"] for event in contact_lineage.assets()])
    require(that=not found.missing, failure=f"these assets cannot be read: {found.missing}")
    return {asset.qualified_name for asset in found.items if TAG in asset.tags.effective}


def _expect_tagged(demo: DemoContext, expected: Collection[str]) -> None:
    tagged = _tagged(demo)
    wrong = sorted(tagged.symmetric_difference(expected))
    failure = f"{len(tagged)} assets are tagged instead of {len(expected)}, for example {wrong[:3]}"
    require(that=not wrong, failure=failure)


def _derived(demo: DemoContext, name: str, *, origins: bool = False) -> Tag:
    found = [tag for tag in demo.lily.tags(name, origins=origins) if (tag.tag, tag.layer) == (TAG, "propagated")]
    expect_equal(f"the number of propagated {TAG} tags on {name}", len(found), 1)
    return found[0]


def _names(demo: DemoContext, ids: Collection[str]) -> list[str]:
    names = {asset.metadata_id: asset.qualified_name for asset in demo.lily.batch_get(list(ids)).items}
    return [names[one] for one in ids]
