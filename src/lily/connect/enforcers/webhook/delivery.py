"""Posts messages on several connections, and finds out which of them were confirmed."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from lily.connect.enforcers.messages import Message
from lily.model.errors import Transient
from lily.outbound import Poster, Response, Signer
from lily.plugins import Failure, TargetGone

GONE = 410
FAILURES_IN_A_ROW = 3  # of a connection, after which the rest waits for the next run
SECONDS = 120.0  # of one run: the worker's transaction must not last longer than that
LATER = "it was not sent, because others failed or took too long; it is sent by the next run"


def headers(signer: Signer, message: Message) -> dict[str, str]:
    fixed = {"content-type": "application/json", "user-agent": "lily-enforcement"}
    return fixed | signer.headers(message.id, message.body)


def refusal(response: Response) -> str:
    """Why a response confirms nothing; empty if it does. Raises TargetGone."""
    if response.status == GONE:
        raise TargetGone("the receiver responds 410 Gone: it is not called again. Correct it, then apply the target.")
    if response.is_confirmed:
        return ""
    if response.is_redirect:
        return f"the receiver responds with the redirect {response.status}, which is not followed; correct the URL"
    return f"the receiver responds {response.status}: {response.excerpt}"


class Delivery:
    """One plan. A message has only to be confirmed once, in any order: each is about a table of its own."""

    def __init__(self, opened: Callable[[], Poster], signer: Signer, connections: int) -> None:
        self._opened, self._signer, self._connections = opened, signer, connections
        self._stopped = Event()
        self._deadline = time.monotonic() + SECONDS

    def send(self, listed: Sequence[Message]) -> list[Failure]:
        """Returns what was not confirmed. Raises TargetGone and ForbiddenAddress."""
        lanes = [listed[start :: self._connections] for start in range(min(self._connections, len(listed)))]
        with ThreadPoolExecutor(max_workers=max(1, len(lanes)), thread_name_prefix="webhook") as pool:
            return [failure for failures in pool.map(self._lane, lanes) for failure in failures]

    def _lane(self, listed: Sequence[Message]) -> list[Failure]:
        poster, failures, in_a_row = self._opened(), [], 0
        try:
            for message in listed:
                is_over = in_a_row >= FAILURES_IN_A_ROW or self._stopped.is_set() or time.monotonic() > self._deadline
                failed = Failure(message.table, LATER, transient=True) if is_over else self._failure(poster, message)
                in_a_row = in_a_row + 1 if failed else 0
                failures += [failed] if failed else []
        except BaseException:
            self._stopped.set()
            raise
        finally:
            poster.close()
        return failures

    def _failure(self, poster: Poster, message: Message) -> Failure | None:
        if problem := message.problem:
            return Failure(message.table, problem, transient=False)
        try:
            response = poster.post(message.body, headers(self._signer, message))
        except Transient as error:
            return Failure(message.table, str(error), transient=True)
        refused = refusal(response)
        return Failure(message.table, refused, transient=response.is_passing) if refused else None
