"""Health probes. Each returns within two seconds and never raises."""

import http.client
import socket
import ssl
import struct

import psycopg

TIMEOUT = 2.0

# Kafka's protocol: a request begins with its api key and version, a correlation id (1) and the client id (none).
_METADATA_REQUEST = struct.pack(">hhihi", 3, 1, 1, -1, 0)
_SASL_PLAIN_HANDSHAKE = struct.pack(">hhihh5s", 17, 1, 1, -1, 5, b"PLAIN")


def kafka_responds(port: int, user: str, password: str) -> bool:
    """Whether a broker is registered and serves requests. The port is open before that."""
    login = f"\0{user}\0{password}".encode()
    authentication = struct.pack(f">hhihi{len(login)}s", 36, 0, 1, -1, len(login), login)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
            for request in (_SASL_PLAIN_HANDSHAKE, authentication):
                if _exchange(connection, request)[4:6] != b"\0\0":  # an error code follows the correlation id
                    return False
            response = _exchange(connection, _METADATA_REQUEST)
    except OSError:
        return False
    return len(response) >= 8 and struct.unpack(">ii", response[:8])[1] > 0  # the number of brokers


def _exchange(connection: socket.socket, request: bytes) -> bytes:
    connection.sendall(struct.pack(">i", len(request)) + request)
    size = _receive(connection, 4)
    return _receive(connection, struct.unpack(">i", size)[0]) if len(size) == 4 else b""


def postgres_responds(url: str) -> bool:
    """Whether the database accepts a connection and executes a query."""
    try:
        with psycopg.connect(url, connect_timeout=int(TIMEOUT), autocommit=True) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.Error:
        return False


def http_ready(port: int, host: str = "127.0.0.1") -> bool:
    """Whether `GET /health/ready` returns 200."""
    return _ready(http.client.HTTPConnection(host, port, timeout=TIMEOUT))


def https_ready(port: int, host: str = "127.0.0.1") -> bool:
    """The same over TLS."""
    return _ready(http.client.HTTPSConnection(host, port, timeout=TIMEOUT, context=_unverified()))


def tls_responds(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server that requires certificates of clients, which a probe has not, completes its own part of a
    handshake. The API listens once it has started, and a handshake needs its event loop."""
    try:
        with (
            socket.create_connection((host, port), timeout=TIMEOUT) as connection,
            _unverified().wrap_socket(connection),
        ):
            return True
    except OSError:
        return False


def _ready(connection: http.client.HTTPConnection) -> bool:
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _unverified() -> ssl.SSLContext:
    """The certificate is for the name by which clients reach the API, not for this address; nothing secret is sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3  # before that, a handshake ends with the client's certificate
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _receive(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size and (more := connection.recv(size - len(received))):
        received += more
    return received
