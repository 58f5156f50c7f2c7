"""Who PostgreSQL runs as when Lily runs as root, and what that account can reach."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

NAME = "nobody"  # the one unprivileged account that every Linux has


@dataclass(frozen=True, slots=True)
class Account:
    name: str
    uid: int
    gid: int


def unprivileged() -> Account | None:
    """The account to run PostgreSQL as; None if Lily is not root and can do it itself."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam(NAME)
    return Account(NAME, entry.pw_uid, entry.pw_gid)


def may_enter(account: Account, path: Path) -> bool:
    """Whether the account may enter that directory, or run that program.

    Asked of the system rather than worked out from permission bits, which do not know of access lists and mounts.
    """
    test = shutil.which("test") or "/usr/bin/test"
    asked = subprocess.run(
        [test, "-x", str(path)], cwd="/", user=account.uid, group=account.gid, extra_groups=[], check=False
    )
    return asked.returncode == 0


def give_to(account: Account | None, directory: Path) -> None:
    """Makes the account the owner of the directory and all that is in it."""
    if account is None or directory.stat().st_uid == account.uid:
        return
    for folder, _, names in os.walk(directory):
        os.chown(folder, account.uid, account.gid)
        for name in names:
            os.chown(Path(folder, name), account.uid, account.gid, follow_symlinks=False)


def open_to_all(directory: Path) -> None:
    """Lets everybody read what is in it, and run what its owner may run."""
    for path in (directory, *directory.rglob("*")):
        mode = path.stat().st_mode
        path.chmod(mode | 0o444 | (0o111 if mode & 0o100 else 0))
