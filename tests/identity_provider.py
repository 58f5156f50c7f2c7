"""A small OpenID Connect provider on loopback: a discovery document, a key set, and tokens signed with its keys."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

AUDIENCE = "lily"
ALGORITHMS = {"RSA": "RS256", "EC": "ES256", "OKP": "Ed25519"}
PATH = "/realms/test"


_MAKING = threading.Lock()


def signing_key(kid: str) -> Key:
    """The kind of key is the beginning of its id. Kept, because making one takes a tenth of a second."""
    with _MAKING:  # the server's threads must not make another one with the same id
        return _made(kid)


@cache
def _made(kid: str) -> Key:
    parameters: Any = {"kid": kid, "use": "sig"}
    match kid.partition("-")[0]:
        case "ec":
            return ECKey.generate_key("P-256", parameters)
        case "ed":
            return OKPKey.generate_key("Ed25519", parameters)
        case _:
            return RSAKey.generate_key(2048, parameters)


class IdentityProvider:
    """Publishes the keys named in `published`. It can be stopped, and started again on the same port."""

    def __init__(self) -> None:
        self.published = ["rsa-1"]
        self.other_keys: list[dict[str, Any]] = []
        self.stated_issuer: str | None = None
        self.key_requests = 0
        self.before_keys: Callable[[], None] = lambda: None
        self._server: ThreadingHTTPServer | None = None
        self._port = 0
        self.start()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._port}{PATH}"

    def start(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), _handler(self))
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Those of a valid access token; a change to None leaves a claim out."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "sub": "4711",
            "iat": now,
            "exp": now + 7200,
            "preferred_username": "ada",
        }
        return {name: value for name, value in (claims | changes).items() if value is not None}

    def token(self, *, kid: str = "rsa-1", alg: str = "", header: dict[str, Any] | None = None, **claims: Any) -> str:
        key = signing_key(kid)
        alg = alg or ALGORITHMS[key.key_type]
        fields = {"alg": alg, "kid": kid} | (header or {})
        return jwt.encode({k: v for k, v in fields.items() if v is not None}, self.claims(**claims), key, [alg])

    def document(self, path: str) -> dict[str, Any] | None:
        if path == f"{PATH}/.well-known/openid-configuration":
            return {"issuer": self.stated_issuer or self.issuer, "jwks_uri": f"{self.issuer}/keys"}
        if path != f"{PATH}/keys":
            return None
        self.key_requests += 1
        self.before_keys()
        return {"keys": [*self.other_keys, *(signing_key(kid).as_dict(private=False) for kid in self.published)]}


@contextmanager
def identity_provider() -> Iterator[IdentityProvider]:
    provider = IdentityProvider()
    try:
        yield provider
    finally:
        provider.stop()


def _handler(provider: IdentityProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            document = provider.document(self.path)
            body = json.dumps(document).encode()
            self.send_response(404 if document is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the library's
            """Silent."""

    return Handler
