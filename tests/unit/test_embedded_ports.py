"""Ports stay the same over restarts, unless another program took them."""

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


def test_a_recorded_port_in_use_is_replaced_and_the_others_are_kept() -> None:
    recorded = choose_ports(NAMES, {})
    with socket.create_server(("127.0.0.1", recorded["kafka"])):
        chosen = choose_ports(NAMES, recorded)
    assert chosen["kafka"] != recorded["kafka"]
    assert {name: chosen[name] for name in NAMES[1:]} == {name: recorded[name] for name in NAMES[1:]}


def test_a_port_recorded_for_two_names_serves_one() -> None:
    port = choose_ports(["kafka"], {})["kafka"]
    chosen = choose_ports(NAMES, dict.fromkeys(NAMES, port))
    assert len(set(chosen.values())) == len(NAMES)


def test_a_port_in_use_is_rejected_with_the_option_to_choose_another() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(NoPort, match="--port"):
        require_free(server.getsockname()[1], "127.0.0.1")


def test_a_host_that_is_not_of_this_machine_is_named() -> None:
    with pytest.raises(NoPort, match=r"192\.0\.2\.1 is not an address of this machine"):
        require_free(8585, "192.0.2.1")
