"""System calls on Linux, and their substitutes on other systems. No other module checks the operating system.

macOS lacks the basis of the isolation (namespaces, seccomp, control groups), /proc, and a way to adopt orphans. There,
`ps` finds processes, and a process belongs to an agent as long as it is below the agent or in the agent's session.

This module stands alone and uses little of the standard library: the supervisor of each agent imports it without the
package.
"""

import os
import sys

IS_LINUX = sys.platform == "linux"
NAME = {"linux": "Linux", "darwin": "macOS"}.get(sys.platform, sys.platform)
"""The usual name of this system."""
HOW_TO_GET_LINUX = "use WSL2, a container or a server (docs/installing.md)"
LEAVE_OUT = "leave out --unconfined" if IS_LINUX else f"leave them out: {NAME} has no sandbox"
"""Advice about limits that nothing would enforce."""
FOLDERS_OF_PROGRAMS = ("/usr/local/bin", "/usr/bin", "/bin") + (() if IS_LINUX else ("/opt/homebrew/bin",))
"""The folders of the usual programs."""
MAX_SOCKET_PATH_BYTES = 107 if IS_LINUX else 103
"""The maximum length of a Unix domain socket's path, in bytes; see unix(7), and unix(4) on BSD."""
_MAX_FILES = 10_240
"""The maximum number of open files of a process on macOS, unless a lower limit is set (OPEN_MAX)."""
_SIGKILL = 9  # the enums of `signal` take longer to import than everything else here
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def refuse_windows() -> None:
    """End this process on Windows, which lacks Unix domain sockets for agents, signals, and suitable file locks."""
    if sys.platform == "win32":
        sys.exit(
            "dogana: Windows is not supported; install Dogana in WSL2: run 'wsl --install', then see docs/installing.md"
        )


def end_with_parent() -> None:
    """Have Linux kill this process when its parent ends; elsewhere do nothing."""
    if IS_LINUX:
        _prctl(_PR_SET_PDEATHSIG, _SIGKILL)


def set_adopting(*, adopting: bool) -> None:
    """Make this process adopt orphaned descendants, or stop adopting them; only Linux supports this."""
    if IS_LINUX:
        _prctl(_PR_SET_CHILD_SUBREAPER, int(adopting))


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def processors() -> int:
    """Return the number of processors that this process may use, as far as the system reports it."""
    return len(os.sched_getaffinity(0)) if IS_LINUX else os.cpu_count() or 1


def allow_files() -> None:
    """Raise this process's limit on open files to the maximum."""
    import resource

    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files if IS_LINUX else _MAX_FILES if files == resource.RLIM_INFINITY else min(files, _MAX_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, files))


def is_alive(pid: int) -> bool:
    """Return whether a process with this id is running, whoever owns it; one that only waits to be reaped is not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return _stat(pid)[:1] not in (["Z"], ["X"])


def _stat(pid: int) -> "list[str]":
    """Return the fields of a process's `stat` file (proc(5)), beginning with its state; empty if they are not known."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def children() -> "list[int]":
    """Return the child processes of this process, whichever of its threads started them."""
    if not IS_LINUX:
        return [pid for pid, parent in _parents().items() if parent == os.getpid()]
    found = []
    for thread in os.listdir("/proc/self/task"):  # noqa: PTH208 pathlib would double the start-up
        found += _children(f"/proc/self/task/{thread}/children")
    return found


def descendants(top: int, agent: "int | None" = None) -> "list[int]":
    """Return all processes below another one, parents first.

    Args:
        top: the process.
        agent: a child of `top`, which may have ended. Where orphans are not adopted, the processes in its session are
            found, too.
    """
    found: list[int] = []
    waiting = [top]
    if IS_LINUX:
        while waiting:
            pid = waiting.pop()
            below = _children(f"/proc/{pid}/task/{pid}/children")
            found += below
            waiting += below
        return found
    parents = _parents()
    while waiting:
        pid = waiting.pop()
        below = [child for child, parent in parents.items() if parent == pid]
        found += below
        waiting += below
    sessions = {pid for pid in found if _session(pid) == pid}
    if agent is not None:
        sessions.add(agent)
    return found + [pid for pid in parents if pid not in found and _session(pid) in sessions]


def parent(pid: int) -> "int | None":
    """Return the parent of a process; None if it has ended."""
    if not IS_LINUX:
        return _parents().get(pid)
    found = _stat(pid)
    return int(found[1]) if found else None


def _children(file: str) -> "list[int]":
    try:
        with open(file) as children:  # noqa: PTH123
            return [int(child) for child in children.read().split()]
    except OSError:  # it may end at any moment
        return []


def _parents() -> "dict[int, int]":
    """Return the parent of every process except zombies and ps itself."""
    import subprocess

    with subprocess.Popen(
        ["/bin/ps", "-A", "-o", "pid=,ppid=,stat="],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as ps:
        assert ps.stdout is not None  # noqa: S101 it is a pipe
        lines = [line.split() for line in ps.stdout.read().splitlines()]
    rows = [(int(line[0]), int(line[1]), line[2]) for line in lines if len(line) > 2]
    return {pid: parent for pid, parent, state in rows if pid != ps.pid and not state.startswith(b"Z")}


def _session(pid: int) -> "int | None":
    try:
        return os.getsid(pid)
    except OSError:  # it has ended, or belongs to another user
        return None
