"""The account that PostgreSQL runs as when Lily runs as root, and what that account can access."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

NAME = "nobody"  # the unprivileged account that exists on every Linux


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the operating system."""

    name: str
    uid: int
    gid: int


def unprivileged_account() -> Account | None:
    """Returns the account to run PostgreSQL as; None if Lily is not root and runs it as itself."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam(NAME)
    return Account(NAME, entry.pw_uid, entry.pw_gid)


def can_enter(account: Account, path: Path) -> bool:
    """Whether the account may enter that directory, or execute that program.

    Asks the operating system instead of reading permission bits, which do not cover access lists and mounts.
    """
    test = shutil.which("test") or "/usr/bin/test"
    result = subprocess.run(
        [test, "-x", str(path)], cwd="/", user=account.uid, group=account.gid, extra_groups=[], check=False
    )
    return result.returncode == 0


def change_owner(account: Account | None, directory: Path) -> None:
    """Makes the account the owner of the directory and everything in it."""
    if account is None or directory.stat().st_uid == account.uid:
        return
    for folder, _, names in os.walk(directory):
        os.chown(folder, account.uid, account.gid)
        for name in names:
            os.chown(Path(folder, name), account.uid, account.gid, follow_symlinks=False)


def make_readable(directory: Path) -> None:
    """Lets every user read the files, and execute those that their owner may execute."""
    for path in (directory, *directory.rglob("*")):
        mode = path.stat().st_mode
        path.chmod(mode | 0o444 | (0o111 if mode & 0o100 else 0))
