"""Chooses the ports of a stack and keeps them over restarts."""

import errno
import secrets
import socket
from collections.abc import Iterable

from lily.model.errors import Terminal

# Below the range from which the kernel takes ports for outgoing connections: such a connection must not take a port
# between its choice and the start of its server.
LOWEST, HIGHEST = 15_000, 29_999
ATTEMPTS = 200


class NoPort(Terminal):
    """A required port cannot be used."""


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now."""
    return _bind_error(port, host) is None


def choose_ports(names: Iterable[str], recorded: dict[str, int]) -> dict[str, int]:
    """Returns a free port per name: the recorded one if it is still free, otherwise a new one."""
    chosen: dict[str, int] = {}
    for name in names:
        port = recorded.get(name, 0)
        usable = port and port not in chosen.values() and is_free(port)
        chosen[name] = port if usable else _new_port(avoid={*chosen.values(), *recorded.values()})
    return chosen


def require_free(port: int, host: str, setting: str = "--port") -> None:
    """Raises NoPort if the port that the user chose cannot be used."""
    match _bind_error(port, host):
        case None:
            return
        case errno.EACCES:
            raise NoPort(f"Only root may use port {port}. Choose a port from 1024 with {setting}.")
        case errno.EADDRNOTAVAIL | socket.EAI_NONAME:
            raise NoPort(f"{host} is not an address of this machine. Correct LILY_HOST.")
        case _:
            raise NoPort(f"Port {port} on {host} is in use. Stop that program or choose another port with {setting}.")


def _bind_error(port: int, host: str) -> int | None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: a port in TIME_WAIT is free
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.errno or errno.EADDRINUSE
    return None


def _new_port(avoid: set[int]) -> int:
    for _ in range(ATTEMPTS):
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST + 1)
        if port not in avoid and is_free(port):
            return port
    raise NoPort(f"No free port was found between {LOWEST} and {HIGHEST}. Stop some servers on this machine.")
