"""`lily keys`: the master key, which encrypts the secrets that are stored. It connects to the database as its owner."""

# ruff: noqa: PLC0415 (the commands import the database driver when they run: `--help` need not pay for it)

import base64
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from lily.cli.access.tenants import operator, owner_database
from lily.cli.options import DataDir, Group, OutputFormat, flag, option, read_settings
from lily.cli.output import Format, Progress, counted, print_result, progress_line
from lily.model.errors import Terminal

if TYPE_CHECKING:
    from psycopg import Connection

keys = typer.Typer(cls=Group, help="Rotate the master key.", no_args_is_help=True)

KEY_BYTES = 32
PASSES = 10  # over all rows; a row of a writer that had read the old key is found by the next one
# A request that read the old keys may still write or decrypt; it ends earlier than this.
GRACE_SECONDS = 60


@dataclass(slots=True)
class Rotated:
    key: str  # the fingerprint of the key that encrypts now
    added: bool
    rows: int = 0
    resealed: int = 0
    keys: int = 0
    pruned: int = 0


@keys.command("rotate")
def rotate(
    *,
    prune: Annotated[bool, flag("--prune", "Then remove the old keys, once nothing needs them.")] = False,
    new_key: Annotated[
        bool, typer.Option("--new-key/--no-new-key", help="Add a key, or use the first of the file.")
    ] = True,
    grace: Annotated[
        int, option("--grace", "SECONDS", "How long to wait for requests under way before the old keys go.")
    ] = GRACE_SECONDS,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Encrypt all stored secrets under a new master key, while Lily runs.

    It can be interrupted and run again: then it continues. The old keys stay in the file, below the new one, unless
    --prune removes them.
    """
    import psycopg

    from lily.store.postgres.keys.rotation import one_rotation

    path = key_file(data_dir)
    with (
        owner_database(data_dir) as owner_url,
        psycopg.connect(owner_url, autocommit=True) as connection,
        one_rotation(connection),
        progress_line("Rotating the master key") as show,
    ):
        done = _rotate(connection, path, new_key=new_key, show=show)
        if prune and done.keys > 1:
            show(f"waiting {grace} s for requests under way")
            time.sleep(grace)
            done.pruned = _prune(connection, path)
            done.keys -= done.pruned
    print_result(output, asdict(done), _described(done, path, new_key=new_key))


def key_file(data_dir: Path | None) -> Path:
    """LILY_MASTER_KEY_FILE, or that of the running stack. Raises Terminal if there is none."""
    from lily.embedded.bootstrap import master_key_of
    from lily.embedded.state import load

    settings = read_settings(data_dir)
    if settings.master_key_file is not None:
        return settings.master_key_file.expanduser().resolve()
    if load(settings.data_dir).supervised():
        return master_key_of(settings.data_dir)
    raise Terminal(
        f"There is no master key: no stack is running in {settings.data_dir}. Start it with `lily up --detach`, or "
        "set LILY_MASTER_KEY_FILE to the file that the API and the worker read."
    )


def _rotate(connection: "Connection", path: Path, *, new_key: bool, show: Progress) -> Rotated:
    from lily.store.postgres.access.secrets import read_master_keys
    from lily.store.postgres.keys.rotation import Rotation, fingerprint

    known = read_master_keys(path)
    before = Rotation(connection, known, operator()).survey()
    _refuse_unreadable(before.unreadable, path)
    # Rows under an older key are those of a rotation that was interrupted: it is finished, and needs no key of its own.
    added = new_key and not before.stale
    if added:
        known = [secrets.token_bytes(KEY_BYTES), *known]
        _write(path, known)
    rotation = Rotation(connection, known, operator())
    done = Rotated(fingerprint(known[0]), added, before.rows, keys=len(known))
    for _ in range(PASSES):
        done.resealed += rotation.reseal(lambda count: show(f"{done.resealed + count:,} of {before.rows:,} encrypted"))
        left = rotation.survey()
        if not left.stale:
            return done
    raise Terminal(
        f"{counted(left.stale, 'secret')} are still under an old key after {PASSES} passes. A process reads another "
        f"key file than {path}: give all of them the same one, and run `lily keys rotate` again."
    )


def _prune(connection: "Connection", path: Path) -> int:
    """Removes all keys but the first. Raises Terminal if a row needs one of them."""
    from lily.store.postgres.access.secrets import read_master_keys
    from lily.store.postgres.keys.rotation import Rotation

    known = read_master_keys(path)
    if stale := Rotation(connection, known, operator()).survey().stale:
        raise Terminal(
            f"{counted(stale, 'secret')} were written under an old key meanwhile, so no key was removed. Run "
            "`lily keys rotate --no-new-key --prune` again."
        )
    _write(path, known[:1])
    return len(known) - 1


def _write(path: Path, known: list[bytes]) -> None:
    from lily.embedded.state import replace_file

    try:
        replace_file(path, "".join(f"{base64.b64encode(key).decode()}\n" for key in known))
    except OSError as error:
        raise Terminal(
            f"{path} cannot be written: {error.strerror}. If another system distributes the file, let that add the new "
            "key as its first line, and then run `lily keys rotate --no-new-key`."
        ) from error


def _refuse_unreadable(unreadable: list[str], path: Path) -> None:
    if unreadable:
        shown = ", ".join(unreadable[:5]) + (" …" if len(unreadable) > 5 else "")
        raise Terminal(
            f"{counted(len(unreadable), 'secret')} cannot be decrypted with the keys in {path}: {shown}. Add the key "
            "that encrypted them as the last line of the file, or store them anew."
        )


def _described(done: Rotated, path: Path, *, new_key: bool) -> str:
    what = f"{counted(done.resealed, 'secret')} of {done.rows:,} encrypted anew under the key {done.key}"
    lines = [f"[green]✓[/] {what}"]
    if new_key and not done.added:
        lines.append("This finished an earlier rotation; no key was added. Run it again for a new key.")
    if done.pruned:
        lines.append(f"{counted(done.pruned, 'old key')} removed from {escape(str(path))}.")
    elif done.keys > 1:
        lines.append(f"{escape(str(path))} keeps {counted(done.keys - 1, 'old key')}; --prune removes them.")
    return "\n".join(lines)
