"""The box in which an agent runs: bubblewrap with a user, file system, processes, network and names of its own.

See bwrap(1). Each flag is explained where it stands; `docs/security.md` says which attack each wall stops.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.errors import DoganaError
from referee.sandbox.cgroup import Group, Groups, Usage
from referee.sandbox.limits import Limits, in_words
from referee.sandbox.runtimes import Runtimes

_HERE = str(Path(__file__).parent)
_RUN = f"import sys; sys.path.insert(0, {_HERE!r}); import supervise; supervise.main()"
SUPERVISOR = (sys.executable, "-I", "-S", "-c", _RUN)
"""The command above each agent, before its words; as an imported module it need not be compiled each time."""
FOLDER = "/bot"
"""Where an agent sees its own files, and runs."""
NO_PROGRAM = "bwrap: execvp "
"""How the last line begins that bubblewrap writes if the box stands, but the agent's program cannot be run."""
SOCKET = "/run/dogana.sock"
"""Where it sees the socket of its seat."""
_LEAST_USERS = 1024
_NOBODY = 65534
_PASSWD = f"bot:x:{_NOBODY}:{_NOBODY}::/tmp:/usr/sbin/nologin\n"
_GROUP = f"bot:x:{_NOBODY}:\n"
_FIRST_USER = 1_900_000_000
"""The first of the users that agents are when root starts them, where root can be all users: nobody has an account there."""
_USERS = 1 << 22
"""How many of them there are: one for each possible process."""


class CannotIsolate(DoganaError):
    """This machine cannot build the box; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What all boxes of a run share.

    Attributes:
        limits: what each agent may use.
        runtimes: what each sees of this machine.
        groups: how limits are enforced.
        filter: the system calls that are let through, as a BPF program.
        bubblewrap: the program that builds the walls.
        forgets: whether the files that only an agent has read leave the page cache with it, so that the next one of its author
            does not learn from there what it has seen. Without that, runtimes stay in memory for the next match.
    """

    limits: Limits
    runtimes: Runtimes
    groups: Groups
    filter: bytes
    bubblewrap: str
    forgets: bool = True

    def losses(self) -> list[str]:
        """Return which limits this machine cannot enforce, in words."""
        return [
            f"{what} (see dogana doctor)"
            for controller, what in (
                (
                    "memory",
                    "memory is limited for each process of a bot, not for all together; what processes can share is not limited",
                ),
                ("pids", "processes and threads of bots are limited by the kernel's count for a user"),
                ("cpu", "the processor time of bots is not limited"),
            )
            if controller not in self.groups.found
        ]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of each agent."""
        return {
            "HOME": "/tmp",  # noqa: S108 its own
            "LANG": "C.UTF-8",
            "PATH": ":".join(self.runtimes.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": "/tmp",  # noqa: S108 its own
            **self.limits.environment(),
        }

    def box(self, argv: Sequence[str], folder: Path, socket: Path, token: str) -> Box:
        """Prepare a box for one agent.

        Args:
            argv: the program and its arguments; no shell reads them.
            folder: the agent's files; it sees them under `FOLDER`, and runs there.
            socket: the Unix domain socket of its seat; it sees it under `SOCKET`.
            token: what it must show there; only its own environment has it.

        Raises:
            CannotIsolate: if its group cannot be made, or it could not read its files.
        """
        if os.geteuid() == 0 and folder.stat().st_mode & 0o005 != 0o005:
            raise CannotIsolate(
                f"{folder} can be read by root only, and agents are other users; chmod -R a+rX {folder}, or start as somebody else"
            )
        try:
            group = self.groups.make(self.limits)
        except OSError as error:
            raise CannotIsolate(f"cannot make a control group: {error.filename}: {error.strerror}") from error
        environment = {**self.environment, "DOGANA_ADDRESS": f"unix:{SOCKET}", "DOGANA_TOKEN": token}
        return Box(self, tuple(argv), folder, socket, environment, group)


@dataclass(slots=True)
class Box:
    """The box of one agent, before, while and after it runs."""

    sandbox: Sandbox
    argv: tuple[str, ...]
    folder: Path
    socket: Path
    environment: Mapping[str, str]
    group: Group
    reports: int = field(init=False)
    """The descriptor to which bubblewrap reports; the supervisor gets it."""
    _reported: int = field(init=False)
    _used: Usage | None = field(default=None, init=False)
    """What was used in all, once it has ended."""
    _released: bool = field(default=False, init=False)
    _ending: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        """Make the pipe for the reports."""
        self._reported, self.reports = os.pipe()
        os.set_blocking(self._reported, False)

    def order(self) -> bytes:
        """Return what the supervisor is told: the arguments of `referee.sandbox.enter.enter`, after their length."""
        sandbox = self.sandbox
        sources: list[str] = []
        arguments: list[str] = []

        def add(*words: str) -> None:
            arguments.extend(f"={word}" for word in words)

        def show(source: str, name: str) -> None:
            arguments.extend(("=--ro-bind", f"$SOURCE{len(sources)}", f"={name}"))
            sources.append(source)

        add("--unshare-all", "--unshare-user")  # the first one only tries a user namespace, the second insists
        add("--disable-userns")  # no namespaces inside of the box, where a bot would be root
        add("--uid", str(_NOBODY), "--gid", str(_NOBODY), "--hostname", "bot")
        add("--die-with-parent", "--new-session")  # no terminal, whose input could be forged
        add("--cap-drop", "ALL", "--clearenv")
        add("--proc", "/proc", "--dev", "/dev")
        add("--size", str(1024 * 1024), "--perms", "0700", "--tmpfs", "/dev/shm")  # noqa: S108 else half of the memory
        add("--size", str(sandbox.limits.tmp_bytes), "--perms", "0700", "--tmpfs", "/tmp")  # noqa: S108 its own
        for source in sandbox.runtimes.folders:  # after /tmp, which would cover what lies there
            show(source, source)
        for name, target in sandbox.runtimes.links:
            add("--symlink", target, name)
        arguments.extend(("=--ro-bind-data", "$PASSWD", "=/etc/passwd", "=--ro-bind-data", "$GROUP", "=/etc/group"))
        show(str(self.folder.absolute()), FOLDER)
        show(str(self.socket), SOCKET)
        add("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", FOLDER)
        for name, value in self.environment.items():
            add("--setenv", name, value)
        arguments.extend(("=--seccomp", "$FILTER", "=--json-status-fd", "$STATUS"))
        order = marshal.dumps(  # which the supervisor reads without importing anything
            {
                "arguments": arguments,
                "bubblewrap": sandbox.bubblewrap,
                "command": self._command(),
                "files": {"FILTER": sandbox.filter, "PASSWD": _PASSWD.encode(), "GROUP": _GROUP.encode()},
                "groups": self.group.doors,
                "rlimits": self._rlimits(),
                "sources": sources,
                "status": self.reports,
                "thaw": self.group.thaw,
                "uids": users_for_agents(Path("/proc/self/uid_map").read_text()) if os.geteuid() == 0 else None,
            }
        )
        return len(order).to_bytes(8, "big") + order

    def _command(self) -> list[str]:
        """Return what bubblewrap runs; where no group counts tasks, the kernel counts those of the box's own user namespace."""
        if "pids" in self.sandbox.groups.found:
            return list(self.argv)
        tasks = self.sandbox.limits.tasks
        return ["/usr/bin/prlimit", f"--nproc={tasks}:{tasks}", "--", *self.argv]

    def _rlimits(self) -> dict[str, int]:
        limits = self.sandbox.limits
        own = {
            "RLIMIT_CORE": 1,  # too small for any dump; 0 would let the kernel start a program for it, see core(5)
            "RLIMIT_FSIZE": limits.tmp_bytes,
            "RLIMIT_MSGQUEUE": 0,
            "RLIMIT_NICE": 0,
            "RLIMIT_NOFILE": limits.files,
            "RLIMIT_RTPRIO": 0,
            "RLIMIT_SIGPENDING": 4 * limits.tasks,
        }
        if "memory" not in self.sandbox.groups.found:
            own["RLIMIT_DATA"] = limits.memory_bytes  # of each process; never RLIMIT_AS, of which runtimes reserve much
        return own

    def was_built(self) -> bool:
        """Return whether the agent could run. Call it once, when the agent has ended and the box has not."""
        reported = b""
        with contextlib.suppress(OSError):  # nothing more was reported
            while data := os.read(self._reported, 4096):
                reported += data
        return b'"exit-code"' in reported

    def usage(self) -> Usage:
        """Return what the agent has used so far, or in all."""
        return self.group.usage() if self._used is None else self._used

    def why_killed(self) -> str:
        """Return which limit has killed a process of the agent, in words; empty if none has."""
        if self.usage().memory_kills:
            return f"out of memory at {in_words(self.sandbox.limits.memory_bytes)}"
        return ""

    def freeze(self, *, frozen: bool) -> None:
        """Stop all processes of the agent, or let them go on. It has no effect once the box was released, or has ended."""
        if not self._released and self._used is None:
            with contextlib.suppress(FileNotFoundError):  # a thread is ending it
                self.group.freeze(frozen=frozen)

    def release(self) -> None:
        """Let the agent go on, for good: what is stopped does not die."""
        if not self.sandbox.limits.ponders:
            self.freeze(frozen=False)
        self._released = True

    def end(self) -> None:
        """Kill what is left of the agent, and give back what its box took; any number of threads may call it."""
        with self._ending:
            if self._used is None:
                self._used = self.group.usage()
                self.group.end(forgets=self.sandbox.forgets)
                os.close(self._reported)
                os.close(self.reports)


def users_for_agents(uid_map: str) -> tuple[int, int]:
    """Return the first of the users that root can become for agents, and how many there are.

    Args:
        uid_map: which users there are, as in /proc/self/uid_map; a container has fewer than its host.

    Raises:
        CannotIsolate: if there are too few.
    """
    spans = [(int(first), int(count)) for first, _, count in (line.split() for line in uid_map.splitlines())]
    if any(first <= _FIRST_USER and first + count >= _FIRST_USER + _USERS for first, count in spans):
        return _FIRST_USER, _USERS
    first, count = max(spans, key=lambda span: span[1])
    users = min(_USERS, count // 2)  # the upper half: accounts of people and services have small numbers
    if users < _LEAST_USERS:
        raise CannotIsolate(
            "root can be too few other users in this container; map 65536 of them into it, or be no root"
        )
    return first + count - users, users


def find_bubblewrap() -> str:
    """Return the path of bubblewrap.

    Raises:
        CannotIsolate: if it is not installed.
    """
    path = shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin")
    if path is None:
        raise CannotIsolate("install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap)")
    return path
