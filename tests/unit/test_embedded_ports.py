"""Ports stay the same over restarts, unless somebody else took them."""

import socket

import pytest

from lily.embedded.ports import NoPort, choose_ports, is_free, require_free

NAMES = ("kafka", "controller", "postgres")


def test_every_name_gets_a_free_port_of_its_own() -> None:
    chosen = choose_ports(NAMES, {})
    assert set(chosen) == set(NAMES)
    assert len(set(chosen.values())) == len(NAMES)
    assert all(is_free(port) for port in chosen.values())


def test_recorded_ports_are_kept() -> None:
    recorded = choose_ports(NAMES, {})
    assert choose_ports(NAMES, recorded) == recorded


def test_a_recorded_port_that_somebody_took_is_replaced_and_the_others_are_kept() -> None:
    recorded = choose_ports(NAMES, {})
    with socket.create_server(("127.0.0.1", recorded["kafka"])):
        chosen = choose_ports(NAMES, recorded)
    assert chosen["kafka"] != recorded["kafka"]
    assert {name: chosen[name] for name in NAMES[1:]} == {name: recorded[name] for name in NAMES[1:]}


def test_a_port_recorded_for_two_names_serves_one() -> None:
    port = choose_ports(["kafka"], {})["kafka"]
    chosen = choose_ports(NAMES, dict.fromkeys(NAMES, port))
    assert len(set(chosen.values())) == len(NAMES)


def test_asking_for_a_taken_port_says_how_to_choose_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(NoPort, match="--port"):
        require_free(server.getsockname()[1], "127.0.0.1")
