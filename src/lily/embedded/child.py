"""The first moments of a part, between fork and its own program. Run by path with the standard library only.

A part must not outlive its supervisor, and PostgreSQL refuses to run as root. Both have to be arranged in the new
process; doing it here rather than in a `preexec_fn` keeps Python code out of the gap after fork, where a lock held by
another thread would hang the child.

    child.py DEATH_SIGNAL SUPERVISOR_PID UID GID PROGRAM ARGUMENT...      (UID and GID -1: stay who you are)
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def become(uid: int, gid: int) -> None:
    if uid >= 0:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)


def die_with(supervisor: int, death_signal: int) -> None:
    """Must come after `become`: the kernel forgets the death signal when the user changes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, death_signal)
    if os.getppid() != supervisor:  # it died before we asked to be told
        sys.exit(1)


def main(arguments: list[str]) -> None:
    death_signal, supervisor, uid, gid = (int(number) for number in arguments[:4])
    become(uid, gid)
    die_with(supervisor, death_signal)
    for number in signal.valid_signals():  # Python, nohup and a shell's `&` have some of them ignored
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    os.execv(arguments[4], arguments[4:])  # noqa: S606 (the arguments are the supervisor's own)


if __name__ == "__main__":
    main(sys.argv[1:])
