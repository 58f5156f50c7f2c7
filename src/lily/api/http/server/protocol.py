"""uvicorn's HTTP protocol with Lily's error body for bytes that it cannot parse as a request."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lily.api.http.errors import problems_response
from lily.model.errors import Problem


class Protocol(HttpToolsProtocol):
    """A request that cannot be parsed does not reach the application, so its error response is written here."""

    def send_400_response(self, msg: str) -> None:
        """Also for a URL of more than 64 KiB. Closes the connection, as uvicorn does."""
        body = bytes(problems_response(400, [Problem("INVALID_HTTP", msg, "request")]).body)
        head = b"HTTP/1.1 400 Bad Request\r\ncontent-length: %d\r\ncontent-type: application/json\r\n" % len(body)
        self.transport.write(head + b"connection: close\r\n\r\n" + body)
        self.transport.close()
