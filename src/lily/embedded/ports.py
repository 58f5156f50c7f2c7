"""Chooses the ports of a stack and keeps them over restarts."""

import secrets
import socket
from collections.abc import Iterable

from lily.model.errors import Terminal

# Below the range from which the kernel takes the ports of outgoing connections: such a connection must never get in
# between the choice of a port and the start of its server.
LOWEST, HIGHEST = 15_000, 29_999
TRIES = 200


class NoPort(Terminal):
    """A port that is needed is taken."""


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: a port in TIME_WAIT is free
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def choose_ports(names: Iterable[str], recorded: dict[str, int]) -> dict[str, int]:
    """A free port for each name: the recorded one if nobody else took it meanwhile, else a new one."""
    chosen: dict[str, int] = {}
    for name in names:
        port = recorded.get(name, 0)
        kept = port and port not in chosen.values() and is_free(port)
        chosen[name] = port if kept else _new_port(avoid={*chosen.values(), *recorded.values()})
    return chosen


def require_free(port: int, host: str, choose_with: str = "--port") -> None:
    """Raises NoPort if the port that the user asked for is taken."""
    if not is_free(port, host):
        raise NoPort(f"Port {port} on {host} is taken. Stop what listens there or choose another with {choose_with}.")


def _new_port(avoid: set[int]) -> int:
    for _ in range(TRIES):
        port = LOWEST + secrets.randbelow(HIGHEST - LOWEST + 1)
        if port not in avoid and is_free(port):
            return port
    raise NoPort(f"No free port was found between {LOWEST} and {HIGHEST}. Stop some servers on this machine.")
