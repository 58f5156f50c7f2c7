"""Which group of jobs is served next: tenants in turns, and no tenant in all slots at once."""

import threading
import time
from collections import deque
from collections.abc import Collection

from lily.store.postgres.jobs.queue import Group, JobQueue

LOOK_SECONDS = 2.0  # at least so often the queue is looked at: a killed worker's jobs are found after that
ELSEWHERE_SECONDS = 1.0  # so long a group that another worker holds is left to it
PLAN = 256  # groups planned at once
PLAN_SECONDS = 0.2  # so long a plan is followed, even if more was queued since


class Rota:
    """Shared by the slots of a worker, each of which is a thread with a connection of its own."""

    def __init__(self, tasks: Collection[str], share: int) -> None:
        self._tasks, self._share = tasks, share
        self._changed = threading.Condition()
        self._planned: deque[Group] = deque()
        self._busy: set[Group] = set()
        self._elsewhere: dict[Group, float] = {}  # until when
        self._idle_until = 0.0  # no other group is ready before, as far as known
        self._replan_at = 0.0  # not before, while anything is planned

    def take(self, queue: JobQueue) -> Group | None:
        """The group to serve; None if there is none. The caller gives it back with `give_back`."""
        with self._changed:
            if time.monotonic() >= self._look_at():
                self._look(queue)
            found = self._next()
            if found is not None:
                self._busy.add(found)
            return found

    def give_back(self, group: Group, *, served: bool) -> None:
        """`served` is False for a group that another worker holds."""
        with self._changed:
            self._busy.discard(group)
            if not served:
                self._elsewhere[group] = time.monotonic() + ELSEWHERE_SECONDS
            if not self._planned:
                self._idle_until = 0.0  # it may have jobs left
            self._changed.notify()

    def wake(self) -> None:
        """Jobs were queued."""
        with self._changed:
            self._idle_until = 0.0
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Returns when `take` may have something new, or after the given time."""
        with self._changed:
            self._changed.wait(max(0.0, min(seconds, self._look_at() - time.monotonic())))

    def _look_at(self) -> float:
        return max(self._idle_until, self._replan_at) if self._planned else self._idle_until

    def _next(self) -> Group | None:
        for group in self._planned:
            if sum(busy.tenant == group.tenant for busy in self._busy) < self._share:
                self._planned.remove(group)
                return group
        return None

    def _look(self, queue: JobQueue) -> None:
        now = time.monotonic()
        self._elsewhere = {group: until for group, until in self._elsewhere.items() if until > now}
        found = queue.ready(self._tasks, self._busy | self._elsewhere.keys(), PLAN)
        self._planned = deque(found.groups)
        # With very many groups a look takes long, and most of the time is for the jobs.
        self._replan_at = now + max(PLAN_SECONDS, 5 * (time.monotonic() - now))
        waits = [LOOK_SECONDS, *(until - now for until in self._elsewhere.values())]
        if found.next_seconds is not None:
            waits.append(found.next_seconds)
        if len(found.groups) == PLAN:
            waits.append(0.0)  # there may be more
        self._idle_until = now + max(0.0, min(waits))
