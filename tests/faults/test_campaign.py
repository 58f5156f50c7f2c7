"""kill -9 in mid-load, again and again: whatever was acknowledged is there afterwards, and nothing else is."""

import os
import time
from collections import Counter
from random import Random

import pytest

from lily.store.postgres.access.administration import create_tenant, create_token
from tests.faults.evidence import gather
from tests.faults.journal import Journal
from tests.faults.killer import Kill, Killer, make_plan
from tests.faults.own_stack import OwnStack, own_stack
from tests.faults.summary import summary
from tests.faults.verifier import verify
from tests.faults.victims import PART_OF
from tests.faults.writers import Load, Tenant

pytestmark = pytest.mark.faults

TENANTS = ("north", "south")  # they speak of assets of the same names
PAUSE_SECONDS = (1.0, 6.0)
LEAST_KILLS = 20
# Whatever is killed, a caller is told to come back or is cut off; 404 is a person who was quicker than the pipeline.
FAIR_ANSWERS = {"200", "202", "404", "429", "503", "confirmed"}


@pytest.fixture
def seed() -> int:
    return int(os.environ.get("LILY_FAULT_SEED") or time.time_ns() % 1_000_000)


def test_every_acknowledged_event_is_accounted_for_after_twenty_kills(
    seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    random = Random(seed)
    plan = make_plan(random)
    with capsys.disabled():
        print(f"\nLILY_FAULT_SEED={seed} kills, in this order if alive: {'; '.join(' + '.join(s) for s in plan)}")
    with own_stack() as stack:
        journal, killer = Journal(), Killer(stack, random)
        load = _load(stack, journal, random)
        with killer.watched():
            with load.applied():
                time.sleep(3)
                killer.carry_out(plan, PAUSE_SECONDS)
                time.sleep(3)
            settled = stack.wait_until_settled()
        assert stack.is_whole()
        restarts = {part.name: part.restarts for part in stack.state.parts}
        evidence = gather(stack.kafka.client, stack.database)
        account = verify(journal, evidence, stack.signatures)
        with capsys.disabled():
            print(summary(stack, journal, killer.kills, evidence, account))
            print(f"settled     {settled:.1f} s after the load was lifted")
    assert not account.problems, account.complaints()
    assert len(killer.kills) >= LEAST_KILLS
    assert not _died_of_others(restarts, killer.kills)
    assert min(account.acknowledged[fate] for fate in ("applied", "superseded", "dead letter")) > 0
    assert not {answer for answer in journal.answers() if answer.isdigit()} - FAIR_ANSWERS


def _died_of_others(restarts: dict[str, int], kills: list[Kill]) -> dict[str, int]:
    """The parts that were restarted more often than killed: the death of one must not be the death of another."""
    killed = Counter(PART_OF[kill.victim] for kill in kills if kill.victim in PART_OF)
    return {part: count for part, count in restarts.items() if count > killed[part]}


def _load(stack: OwnStack, journal: Journal, random: Random) -> Load:
    load = Load(stack.kafka.client, stack.url, journal, random)
    for name in TENANTS:
        create_tenant(stack.database, name)
        tenant = Tenant(name, create_token(stack.database, name, ["admin"], user=f"clerk-of-{name}"))
        load.add_callers(tenant)
        load.add_appender(tenant, spoils=False, names=500, pace=0.1)
        load.add_appender(tenant, spoils=True, names=500, pace=0.4)
    return load
