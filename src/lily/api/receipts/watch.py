"""Questions of one kind that wait for an answer, and the one read that answers all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping
from typing import Generic, NoReturn, TypeVar

import structlog

from lily.model.errors import LilyError

SAFETY_SECONDS = 1.0  # a notification can be lost with its connection; then the next read finds out
MOST_WAITING = 5_000  # past that a write is answered 202 at once, and its receipt reports the rest

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")
Read = Callable[[Collection[Question]], Awaitable[Mapping[Question, Answer]]]

log = structlog.get_logger()


class Watch(Generic[Question, Answer]):
    """`read` gets all open questions and returns the answers there are. One read runs at a time: questions and
    notifications that arrive meanwhile share the next one, so their number never multiplies the load on the store."""

    def __init__(self, read: Read[Question, Answer]) -> None:
        self._read = read
        self._waiting: dict[asyncio.Future[Answer], Question] = {}
        self._wake = asyncio.Event()
        self._stale = True  # there may be news since the last read

    def notify(self) -> None:
        """There may be new answers."""
        self._stale = True
        if self._waiting:
            self._wake.set()

    async def wait(self, question: Question, seconds: float, *, read_now: bool = True) -> Answer | None:
        """The answer; None if there is none in time, or too many wait. Without `read_now` a question that is new needs
        no read of its own: the caller knows that the last read did not answer it."""
        if len(self._waiting) >= MOST_WAITING:
            return None
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[answer] = question
        if read_now or self._stale or len(self._waiting) == 1:
            self._wake.set()
        try:
            return await asyncio.wait_for(answer, seconds)
        except TimeoutError:
            return None
        finally:
            del self._waiting[answer]

    async def run(self) -> NoReturn:
        while True:
            await self._next()
            try:
                await self._answer_all()
            except LilyError as error:
                log.warning("watch.cannot_read", reason=str(error))
                self._stale = True
                await asyncio.sleep(SAFETY_SECONDS)

    async def _next(self) -> None:
        """Returns at the next notification or question, and every second while a question waits."""
        try:
            await asyncio.wait_for(self._wake.wait(), SAFETY_SECONDS if self._waiting else None)
        except TimeoutError:
            return

    async def _answer_all(self) -> None:
        # Cleared before the read: what is committed during it is announced again.
        self._wake.clear()
        self._stale = False
        if not self._waiting:
            return
        answers = await self._read(set(self._waiting.values()))
        for waiting, question in self._waiting.items():
            if question in answers and not waiting.done():
                waiting.set_result(answers[question])
