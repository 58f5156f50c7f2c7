"""A plain read served inside uvicorn's HTTP protocol, by overriding a private method of it.

Lily did this once; it is kept here to measure what it would bring over serving in front of the framework
(`lily/api/reads/fast_read.py`): no task, no ASGI messages, no check of the headers.
"""

from asyncio import CancelledError
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from lily.api.application import Application
from lily.api.http.server.correlation import HEADER
from lily.api.reads.fast_read import AssetFuture, Reading


class Override(HttpToolsProtocol):
    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        usual = partial(super()._start_asgi_task, cycle, app)
        reading = self._begin(cycle, app)
        if reading is None:
            usual()
        else:
            reading.asset.add_done_callback(partial(self._respond, cycle, reading, usual))

    def _begin(self, cycle: RequestResponseCycle, app: Any) -> Reading | None:
        if not isinstance(app, Application) or app.fast_read is None:
            return None
        if self.flow.write_paused or cycle.waiting_for_100_continue:
            return None
        return app.fast_read.begin(cast("dict[str, Any]", cycle.scope))

    def _respond(self, cycle: RequestResponseCycle, reading: Reading, usual: partial[None], asset: AssetFuture) -> None:
        body = _body(asset)
        if body is None:
            usual()
        elif not cycle.disconnected:
            self._send(cycle, reading.correlation, body)
            reading.report()
            cycle.on_response()

    def _send(self, cycle: RequestResponseCycle, correlation: str, body: bytes) -> None:
        cycle.response_started = cycle.response_complete = True
        stamps = b"".join(name + b": " + value + b"\r\n" for name, value in cycle.default_headers)
        close = b"" if cycle.keep_alive else b"connection: close\r\n"
        cycle.transport.write(
            b"HTTP/1.1 200 OK\r\n%bcontent-length: %d\r\ncontent-type: application/json\r\n%b: %b\r\n%b\r\n%b"
            % (stamps, len(body), HEADER, correlation.encode(), close, body)
        )
        if not cycle.keep_alive:
            cycle.transport.close()


def _body(reading: AssetFuture) -> bytes | None:
    try:
        asset = reading.result()
        body = asset.json if asset and not asset.awaits_lake else None
    except (Exception, CancelledError):  # noqa: BLE001 - a callback has no caller to raise to
        return None
    return body
