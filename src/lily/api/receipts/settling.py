"""Waits until a write can be read and has propagated, as `Prefer: wait` requests."""

import time
from dataclasses import dataclass

from lily.api.calls import Call
from lily.api.receipts.receipt import Receipt
from lily.api.receipts.waiter import Positions

RECEIPT = "Lily-Receipt"


@dataclass(frozen=True, slots=True)
class Settlement:
    """The state of a write that the log has confirmed."""

    tenant: str
    receipt: Receipt
    wait: int | None
    applied: bool  # it can be read, and has propagated

    @property
    def status(self) -> int:
        return 200 if self.applied else 202

    def headers(self) -> dict[str, str]:
        """The receipt; for a write that was not applied in time, also the address of its state."""
        sealed = self.receipt.seal(self.tenant)
        headers = {RECEIPT: sealed}
        if self.wait is not None:
            headers["Preference-Applied"] = f"wait={self.wait}"
            if not self.applied:
                headers["Location"] = f"/propagations/{sealed}"
        return headers


async def settle(call: Call, receipt: Receipt, wait: int | None) -> Settlement:
    """Waits at most `wait` seconds until the write can be read and has propagated; does not wait if `wait` is None."""
    applied = wait is not None and await _settled(call, receipt, wait)
    return Settlement(call.tenant, receipt, wait, applied)


async def decision_settled(call: Call) -> None:
    """Waits, if the caller prefers to, until a change of definitions or settings has propagated."""
    wait = call.wait()
    if wait is not None:
        deadline = time.monotonic() + wait
        await _propagated(call, await call.services.waiter.decision_published(call.tenant, wait), deadline)


async def _settled(call: Call, receipt: Receipt, wait: int) -> bool:
    deadline, waiter = time.monotonic() + wait, call.services.waiter
    if not await waiter.applied(receipt.positions, wait):
        return False
    if not receipt.propagates:
        return True
    return await _propagated(call, await waiter.published(receipt.positions, _left(deadline)), deadline)


async def _propagated(call: Call, published: Positions | None, deadline: float) -> bool:
    """Whether propagation has handled what was published, waiting until the deadline."""
    waiter = call.services.waiter
    if published is None or not await waiter.applied(published, _left(deadline)):
        return False
    return await waiter.unparked(call.tenant, _left(deadline))


def _left(deadline: float) -> float:
    return max(deadline - time.monotonic(), 0)
