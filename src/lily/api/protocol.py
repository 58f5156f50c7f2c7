"""HTTP below the application: what cannot even be read as a request is refused in the contract's shape too."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lily.api.errors import problems_answer
from lily.model.errors import Problem


class Protocol(HttpToolsProtocol):
    def send_400_response(self, msg: str) -> None:
        """Called for malformed requests, an address of more than 64 KiB among them; the connection ends with it."""
        body = bytes(problems_answer(400, [Problem("INVALID_HTTP", msg, "request")]).body)
        head = (
            "HTTP/1.1 400 Bad Request\r\n"
            "content-type: application/json\r\n"
            f"content-length: {len(body)}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
