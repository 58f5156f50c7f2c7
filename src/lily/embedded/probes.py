"""Health probes. Each returns within two seconds and never raises."""

import http.client
import socket
import struct

import psycopg

TIMEOUT = 2.0

# Kafka's protocol: api key 3 (Metadata), version 1, correlation id 1, no client id, no topics.
_METADATA_REQUEST = struct.pack(">ihhihi", 14, 3, 1, 1, -1, 0)


def kafka_responds(port: int) -> bool:
    """Whether a broker is registered and serves requests. The port is open before that."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
            connection.sendall(_METADATA_REQUEST)
            response = _receive(connection, 12)  # length, correlation id, number of brokers
    except OSError:
        return False
    return len(response) == 12 and struct.unpack(">iii", response)[2] > 0


def postgres_responds(url: str) -> bool:
    """Whether the database accepts a connection and executes a query."""
    try:
        with psycopg.connect(url, connect_timeout=int(TIMEOUT), autocommit=True) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.Error:
        return False


def http_ready(port: int, host: str = "127.0.0.1") -> bool:
    """Whether `GET /health/ready` returns 200."""
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _receive(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size and (more := connection.recv(size - len(received))):
        received += more
    return received
