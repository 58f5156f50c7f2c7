"""The third chapter: one column is tagged PII, the tag reaches dashboards, tells why, and goes again."""

from collections.abc import Callable, Collection
from itertools import pairwise

from lily.cli.demo import flow
from lily.cli.demo.flow import CALL_SHEET, DASHBOARD, EMAIL, HASH, PHONE, READERS, SUPPRESSED
from lily.cli.demo.scene import Scene, Step, Told, expect_equal, insist
from lily.client import Receipt, Tag, Travel

WAIT = 60  # seconds: a machine that is busy with other things is slow, not wrong
TAG = "PII"
REASON = "tokenised before it is sent"

GRAPH, WOULD, TRAVEL, WHY = (
    "a lineage graph, sent to readable",
    "what a tag would reach, asked",
    "a tag along the lineage, sent to all shown",
    "why an asset has a tag, asked",
)


def draw_graph(scene: Scene) -> Told:
    """Three doors lead to one graph: a run's report, SQL, and a person's word."""
    assets = list(flow.assets())

    def send() -> tuple[int, int, int]:
        told = scene.lily.ingest_many(assets, wait=WAIT)
        run = scene.lily.take_lineage(flow.loading_run())
        sql = scene.lily.relate_by_sql(flow.models(), "snowflake")
        # These many go to every partition of the log and come last: when they can be read, so can the others.
        drawn = scene.lily.relate(flow.dashboards(), wait=WAIT)
        insist(that=told.readable and drawn.readable, otherwise=f"the graph was not readable within {WAIT} seconds")
        return run.edges, len(sql.edges), drawn.accepted

    (claimed, read, drawn), seconds = scene.timed(GRAPH, send)
    told = f"{claimed} edges by an OpenLineage run, {read} from SQL, {drawn} by POST"
    return Told(f"[b]{len(assets)} assets[/] from a CRM to dashboards, and how data flows: {told}", seconds)


def try_out(scene: Scene) -> Told:
    found, seconds = scene.timed(WOULD, lambda: list(scene.lily.would_reach(EMAIL, TAG)))
    insist(that=len(found) >= 200, otherwise=f"{TAG} on {EMAIL} would reach {len(found)} assets only")
    expect_equal("the number of assets that are tagged already", sum(reach.already for reach in found), 0)
    deepest = max(reach.depth for reach in found)
    _expect_tagged(scene, set())
    told = f"{TAG} on [b]{EMAIL}[/] would reach {len(found)} assets, up to {deepest} edges away"
    return Told(f"Asked before anything is done: {told}", seconds)


def tag_column(scene: Scene) -> Told:
    foreseen = {str(reach.qualified_name) for reach in scene.lily.would_reach(EMAIL, TAG)}
    travel, seconds = _travel(scene, lambda: scene.lily.add_tag(EMAIL, TAG, wait=WAIT))
    expect_equal("how many the receipt says were reached", travel.reached, len(foreseen))
    _expect_tagged(scene, {EMAIL} | foreseen)
    boards = sum(name.startswith("bi.") for name in foreseen)
    told = f"all [b]{travel.reached} assets[/] have the tag, {boards} of them charts and dashboards"
    return Told(f"Tagged {TAG}: {told}", seconds)


def explain(scene: Scene) -> Told:
    tag, seconds = scene.timed(WHY, lambda: _derived(scene, DASHBOARD))
    path = _names(scene, tag.path)
    expect_equal("the ends of the path", (path[0], path[-1], len(path)), (EMAIL, DASHBOARD, tag.depth + 1))
    for start, end in pairwise(path):
        steps = {edge["to"] for edge in scene.lily.lineage(start, depth=1).edges}
        insist(that=scene.lily.get(end).metadata_id in steps, otherwise=f"there is no edge from {start} to {end}")
    return Told(f"Why {DASHBOARD}? [i]{' → '.join(path)}[/]", seconds)


def stop_at_mask(scene: Scene) -> Told:
    tags, seconds = scene.timed(WHY, lambda: scene.lily.tags(HASH))
    masked = [edge["masking"] for edge in scene.lily.lineage(HASH, direction="upstream", depth=1).edges]
    expect_equal("whether the edge masks", masked, [True])
    insist(that=TAG not in {tag.tag for tag in tags}, otherwise=f"{HASH} is masked, and has the tag")
    insist(that=TAG not in scene.lily.get(READERS).tags.effective, otherwise=f"{READERS} shows hashes, and has the tag")
    return Told(f"The run said that [b]{HASH}[/] is masked: neither it nor {READERS} has the tag", seconds)


def suppress(scene: Scene) -> Told:
    """What is below loses it; undone, it is back."""
    before = _tagged(scene)
    below = {*flow.charts("campaign_07"), DASHBOARD}
    travel, seconds = _travel(scene, lambda: scene.lily.suppress_tag(SUPPRESSED, TAG, REASON, wait=WAIT))
    expect_equal("how many the receipt says were reached", travel.reached, len(below))
    _expect_tagged(scene, before - below - {SUPPRESSED})
    kept = _derived(scene, SUPPRESSED)
    expect_equal("the reason that is kept", (kept.suppression or {}).get("reason"), REASON)
    _travel(scene, lambda: scene.lily.unsuppress_tag(SUPPRESSED, TAG, wait=WAIT))
    _expect_tagged(scene, before)
    told = f"its {len(below)} charts and dashboards lose the tag; undone, they have it again"
    return Told(f'Suppressed on {SUPPRESSED}, "{REASON}": {told}', seconds)


def tag_second_column(scene: Scene) -> Told:
    before = _tagged(scene)
    travel, seconds = _travel(scene, lambda: scene.lily.add_tag(PHONE, TAG, wait=WAIT))
    expect_equal("how many have the tag now", len(_tagged(scene)), len(before) + travel.reached + 1)
    origins = _names(scene, _derived(scene, CALL_SHEET, origins=True).origins or ())
    expect_equal("the origins of the tag", sorted(origins), [EMAIL, PHONE])
    return Told(f"[b]{PHONE}[/] is tagged as well: {CALL_SHEET} has it from both, and says so", seconds)


def untag_column(scene: Scene) -> Told:
    before = _tagged(scene)
    travel, seconds = _travel(scene, lambda: scene.lily.remove_tag(EMAIL, TAG, wait=WAIT))
    after = _tagged(scene)
    expect_equal("how many have lost the tag", len(before - after), travel.reached + 1)
    insist(that=DASHBOARD not in after, otherwise=f"{DASHBOARD} has the tag still")
    expect_equal("the origin that is left", _names(scene, _derived(scene, CALL_SHEET).path)[0], PHONE)
    return Told(f"Taken away from {EMAIL}: gone from {travel.reached} assets, and [b]{CALL_SHEET} keeps it[/]", seconds)


def untag_second_column(scene: Scene) -> Told:
    travel, seconds = _travel(scene, lambda: scene.lily.remove_tag(PHONE, TAG, wait=WAIT))
    _expect_tagged(scene, set())
    return Told(f"Taken away from {PHONE} too: the last {travel.reached} lose it, and nothing is tagged", seconds)


LINEAGE = (
    Step("draw a lineage graph", draw_graph),
    Step("ask what a tag would reach", try_out),
    Step("tag a column", tag_column),
    Step("explain a derived tag", explain),
    Step("stop at a mask", stop_at_mask),
    Step("suppress a derived tag", suppress),
    Step("tag a second column", tag_second_column),
    Step("untag the column", untag_column),
    Step("untag the second column", untag_second_column),
)


def _travel(scene: Scene, write: Callable[[], Receipt]) -> tuple[Travel, float]:
    """A write that waits comes back when all that follows from it can be read; the receipt tells how far it went."""
    receipt, seconds = scene.timed(TRAVEL, write)
    insist(that=receipt.readable, otherwise=f"not everything had followed within {WAIT} seconds")
    travel = scene.lily.travel(receipt.receipt)
    expect_equal("the state of the receipt", travel.state, "applied")
    return travel, seconds


def _tagged(scene: Scene) -> set[str]:
    """Which of the chapter's assets have the tag in effect."""
    found = scene.lily.batch_get([event["attributes"]["qualified_name"] for event in flow.assets()])
    insist(that=not found.missing, otherwise=f"these are not readable: {found.missing}")
    return {asset.qualified_name for asset in found.items if TAG in asset.tags.effective}


def _expect_tagged(scene: Scene, expected: Collection[str]) -> None:
    tagged = _tagged(scene)
    wrong = sorted(tagged.symmetric_difference(expected))
    insist(that=not wrong, otherwise=f"{len(tagged)} assets are tagged and not {len(expected)}: see {wrong[:3]}")


def _derived(scene: Scene, name: str, *, origins: bool = False) -> Tag:
    found = [tag for tag in scene.lily.tags(name, origins=origins) if (tag.tag, tag.layer) == (TAG, "propagated")]
    expect_equal(f"the number of times that {TAG} reached {name}", len(found), 1)
    return found[0]


def _names(scene: Scene, ids: Collection[str]) -> list[str]:
    names = {asset.metadata_id: asset.qualified_name for asset in scene.lily.batch_get(list(ids)).items}
    return [names[one] for one in ids]
