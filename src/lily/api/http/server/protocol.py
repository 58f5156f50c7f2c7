"""uvicorn's HTTP protocol with Lily's error body for bytes that it cannot parse as a request."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lily.api.http.errors import problems_answer
from lily.model.errors import Problem


class Protocol(HttpToolsProtocol):
    """No application sees a request that cannot be parsed, so the contract's error body has to be written here."""

    def send_400_response(self, msg: str) -> None:
        """Also for an address of more than 64 KiB. The connection ends with it, as in uvicorn's own."""
        body = bytes(problems_answer(400, [Problem("INVALID_HTTP", msg, "request")]).body)
        head = b"HTTP/1.1 400 Bad Request\r\ncontent-length: %d\r\ncontent-type: application/json\r\n" % len(body)
        self.transport.write(head + b"connection: close\r\n\r\n" + body)
        self.transport.close()
