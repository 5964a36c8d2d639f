"""What Linux does for us, and what takes its place on other systems. No other module asks on which system it runs.

macOS lacks what walls are made of (namespaces, seccomp, control groups), /proc, and a way to adopt orphans. There, processes are
found with ps, and what an agent has started belongs to it as long as it is below the agent or in the session of the agent.

It stands alone, with the standard library and little of that: the supervisor of each agent imports it without the package.
"""

import os
import sys

IS_LINUX = sys.platform == "linux"
NAME = {"linux": "Linux", "darwin": "macOS"}.get(sys.platform, sys.platform)
"""What people call this system."""
HOW_TO_GET_LINUX = "use WSL2, a container or a server (docs/installing.md)"
LEAVE_OUT = "leave out --unconfined" if IS_LINUX else f"leave them out: {NAME} has no walls"
"""What to do about limits that nothing would enforce."""
FOLDERS_OF_PROGRAMS = ("/usr/local/bin", "/usr/bin", "/bin") + (() if IS_LINUX else ("/opt/homebrew/bin",))
"""Where the usual programs are."""
MAX_SOCKET_PATH_BYTES = 107 if IS_LINUX else 103
"""How long the path of a Unix domain socket can be; see unix(7), and unix(4) on BSD."""
_MAX_FILES = 10_240
"""How many files macOS lets a process have that may have any number (OPEN_MAX)."""
_SIGKILL = 9  # `signal` makes enums, which takes longer than all else here
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def refuse_windows() -> None:
    """End this process on Windows, which has no Unix domain sockets for agents, no signals, and no file locks as we use them."""
    if sys.platform == "win32":
        sys.exit(
            "dogana: Windows is not supported; install Dogana in WSL2: run 'wsl --install', then see docs/installing.md"
        )


def end_with_parent() -> None:
    """Let Linux kill this process when its parent ends; elsewhere do nothing."""
    if IS_LINUX:
        _prctl(_PR_SET_PDEATHSIG, _SIGKILL)


def set_adopting(*, adopting: bool) -> None:
    """Make this process the parent of every process below it whose own parent ends, or not; only Linux can."""
    if IS_LINUX:
        _prctl(_PR_SET_CHILD_SUBREAPER, int(adopting))


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def processors() -> int:
    """Return how many processors this process may use, as far as the system says."""
    return len(os.sched_getaffinity(0)) if IS_LINUX else os.cpu_count() or 1


def allow_files() -> None:
    """Let this process have as many files as it may."""
    import resource

    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files if IS_LINUX else _MAX_FILES if files == resource.RLIM_INFINITY else min(files, _MAX_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, files))


def is_alive(pid: int) -> bool:
    """Return whether there is a process with this id, whoever runs it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def children() -> "list[int]":
    """Return the children of this process, of all its threads."""
    if not IS_LINUX:
        return [pid for pid, parent in _parents().items() if parent == os.getpid()]
    found = []
    for thread in os.listdir("/proc/self/task"):  # noqa: PTH208 pathlib would double the start-up
        found += _children(f"/proc/self/task/{thread}/children")
    return found


def descendants(top: int, agent: "int | None" = None) -> "list[int]":
    """Return the processes below one, parents first.

    Args:
        top: the process.
        agent: a child of it that may have ended. Where nobody adopts orphans, those in its session are found all the same.
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
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _children(file: str) -> "list[int]":
    try:
        with open(file) as children:  # noqa: PTH123
            return [int(child) for child in children.read().split()]
    except OSError:  # it may end at any moment
        return []


def _parents() -> "dict[int, int]":
    """Return the parent of every process but those that only wait to be reaped, and that of ps itself."""
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
    except OSError:  # it has ended, or is a stranger's
        return None
