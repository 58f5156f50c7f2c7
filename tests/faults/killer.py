"""Kills parts at random moments, one or two at once, and measures how long each takes to be back."""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from random import Random

import psycopg

from tests.faults.own_stack import OwnStack
from tests.faults.victims import PART_OF, VICTIMS

LOOK_SECONDS = 0.2
QUICK = [name for name in VICTIMS if not name.startswith("pipeline")]  # a new Spark takes twenty seconds
STEP_SECONDS = 90.0  # how long a plan may stand still because none of its victims is alive

Plan = list[tuple[str, ...]]


def make_plan(random: Random, *, each: int = 2, more: int = 4, pairs: int = 3) -> Plan:
    """Every victim so often, some more, in random order; as many pairs as asked for die at the same moment."""
    kills = [name for name in VICTIMS for _ in range(each)] + random.choices(QUICK, k=more)
    random.shuffle(kills)
    plan: Plan = []
    while pairs and kills:
        first = kills.pop()
        second = next((name for name in kills if name != first), None)
        if second is not None:
            kills.remove(second)
            plan.append((first, second))
            pairs -= 1
    plan += [(name,) for name in kills]
    random.shuffle(plan)
    return plan


@dataclass(slots=True)
class Kill:
    victim: str
    part_pid: int  # of the supervised process, which may be another than the one killed
    at: float = field(default_factory=time.monotonic)
    wall: float = field(default_factory=time.time)
    seconds: float | None = None  # until it was back


class Killer:
    def __init__(self, stack: OwnStack, random: Random) -> None:
        self._stack, self._random = stack, random
        self.kills: list[Kill] = []

    def carry_out(self, plan: Plan, pause: tuple[float, float]) -> None:
        """Of what is left of the plan, the next step whose victims are alive: to kill the dead proves nothing."""
        left = list(plan)
        while left:
            self._wait_for_one(left)
            time.sleep(self._random.uniform(*pause))
            done = next((step for step in left if self.kill(step)), None)
            if done is not None:
                left.remove(done)

    def _wait_for_one(self, left: Plan) -> None:
        deadline = time.monotonic() + STEP_SECONDS
        while not any(self._find(step) for step in left):
            assert time.monotonic() < deadline, f"none of {left} came alive in time: something did not recover"
            time.sleep(LOOK_SECONDS)

    def kill(self, victims: Sequence[str]) -> bool:
        """Kills all of them at once, or none if one is not alive."""
        found = self._find(victims)
        parts = {victim: self._part_pid(victim) for victim in found}
        for victim, pid in found.items():
            with suppress(ProcessLookupError):  # it ended by itself just now
                os.kill(pid, signal.SIGKILL)
                self.kills.append(Kill(victim, parts[victim]))
        return bool(found)

    def _find(self, victims: Sequence[str]) -> dict[str, int]:
        """The processes of all of them; of none if one is not alive."""
        found = {victim: pid for victim in victims if (pid := VICTIMS[victim](self._stack))}
        return found if len(found) == len(victims) else {}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Measures recoveries for as long as the block runs."""
        stop = threading.Event()
        watch = threading.Thread(target=self._watch, args=(stop,), name="recoveries")
        watch.start()
        try:
            yield
        finally:
            stop.set()
            watch.join()

    def _watch(self, stop: threading.Event) -> None:
        while not stop.wait(LOOK_SECONDS):
            self._look()
        self._look()

    def _look(self) -> None:
        missing = [kill for kill in self.kills if kill.seconds is None]
        applied = self._last_applied() if missing else 0.0
        for kill in missing:
            if self._is_back(kill, applied):
                kill.seconds = time.monotonic() - kill.at

    def _is_back(self, kill: Kill, applied: float) -> bool:
        if kill.victim not in PART_OF:
            return applied > kill.wall
        part = self._stack.part(PART_OF[kill.victim])
        return part.state == "healthy" and part.running.pid not in (0, kill.part_pid)

    def _part_pid(self, victim: str) -> int:
        return self._stack.part(PART_OF[victim]).running.pid if victim in PART_OF else 0

    def _last_applied(self) -> float:
        """The last commit of the partition that is furthest behind: one worker alone does not make a pipeline."""
        try:
            with psycopg.connect(self._stack.database, connect_timeout=2) as connection:
                found = connection.execute(
                    "select extract(epoch from min(applied_at)) from applied where topic = 'asset-ingestion-events'"
                ).fetchone()
        except psycopg.OperationalError:
            return 0.0
        return float(found[0] or 0.0) if found else 0.0
