"""Runs in the new process of a part, before the part's own program. Started by path; uses the standard library only.

A part must not outlive its supervisor, and PostgreSQL refuses to run as root. Both must be arranged in the new
process. Doing it here and not in a `preexec_fn` keeps Python code out of the time between fork and exec, when a lock
held by another thread would hang the child.

    launcher.py DEATH_SIGNAL SUPERVISOR_PID UID GID PROGRAM ARGUMENT...      (UID and GID -1: keep the current user)
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def change_user(uid: int, gid: int) -> None:
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)


def die_with(supervisor: int, death_signal: int) -> None:
    """Must follow `change_user`: the kernel clears the death signal when the user changes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal)
    if os.getppid() != supervisor:  # it died before the death signal was set
        sys.exit(1)


def main(arguments: list[str]) -> None:
    death_signal, supervisor, uid, gid = (int(number) for number in arguments[:4])
    change_user(uid, gid)
    die_with(supervisor, death_signal)
    for number in signal.valid_signals():  # Python, nohup and a shell's `&` leave some signals ignored
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    os.execv(arguments[4], arguments[4:])  # noqa: S606 (the arguments are the supervisor's own)


if __name__ == "__main__":
    main(sys.argv[1:])
