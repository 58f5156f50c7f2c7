"""The gate of a stack: its services load their code while the engines start, and go on when the gate is open."""

from pathlib import Path

from lily import gate

VARIABLE = gate.VARIABLE


def gate_of(data_dir: Path) -> Path:
    """The file that exists when the gate is open."""
    return data_dir / "engines.prepared"


def open_gate(data_dir: Path) -> None:
    gate_of(data_dir).touch(mode=0o600)


def close_gate(data_dir: Path) -> None:
    gate_of(data_dir).unlink(missing_ok=True)
