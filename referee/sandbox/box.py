"""The box in which an agent runs: bubblewrap with a user, file system, processes, network and names of its own.

See bwrap(1). A comment beside each flag explains it; `docs/security.md` lists the attack that each measure stops.
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
from referee.sandbox.cgroup import ControlGroup, Groups, Usage
from referee.sandbox.limits import ResourceLimits, in_words
from referee.sandbox.runtimes import Runtimes

_HERE = str(Path(__file__).parent)
_RUN = f"import sys; sys.path.insert(0, {_HERE!r}); import supervise; supervise.main()"
SUPERVISOR = (sys.executable, "-I", "-S", "-c", _RUN)
"""The supervisor's command. It imports the supervisor as a module, which Python compiles only once."""
FOLDER = "/bot"
"""The path at which an agent sees its own files, which is also its working directory."""
NO_PROGRAM = "bwrap: execvp "
"""The prefix of bubblewrap's last message if the box is ready but the agent's program cannot be run."""
SOCKET = "/run/dogana.sock"
"""The path at which an agent sees the socket of its seat."""
_LEAST_USERS = 1024
_NOBODY = 65534
_PASSWD = f"bot:x:{_NOBODY}:{_NOBODY}::/tmp:/usr/sbin/nologin\n"
_GROUP = f"bot:x:{_NOBODY}:\n"
_FIRST_USER = 1_900_000_000
"""The first user id for agents if root starts them and can become any user. No account has an id this high."""
_USERS = 1 << 22
"""The number of user ids for agents, one for each possible process."""


class CannotIsolate(DoganaError):
    """This machine cannot build the box; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The settings that all boxes in a run share.

    Attributes:
        limits: the resources that each agent may use.
        runtimes: the parts of this machine's file system that each agent sees.
        groups: the control groups that enforce limits.
        filter: the filter of system calls, as a BPF program.
        bubblewrap: the program that builds the box.
        forgets: whether files that only this agent has read leave the page cache when the agent ends, so that the
            author's next agent cannot find out from the cache what this one has seen. Otherwise runtimes stay in memory
            for the next match.
    """

    limits: ResourceLimits
    runtimes: Runtimes
    groups: Groups
    filter: bytes
    bubblewrap: str
    forgets: bool = True

    def losses(self) -> list[str]:
        """Return, in words, the limits that this machine cannot enforce."""
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
        """The environment variables of every agent."""
        return {
            "HOME": "/tmp",  # noqa: S108 its own
            "LANG": "C.UTF-8",
            "PATH": ":".join(self.runtimes.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",  # so that the log has what a killed bot printed
            "TMPDIR": "/tmp",  # noqa: S108 its own
            **self.limits.environment(),
        }

    def box(self, argv: Sequence[str], folder: Path, socket: Path, token: str) -> Box:
        """Prepare a box for one agent.

        Args:
            argv: the program and its arguments; no shell interprets them.
            folder: the agent's files; the agent sees them at `FOLDER`, and runs there.
            socket: the Unix domain socket of the agent's seat; the agent sees it at `SOCKET`.
            token: the seat's token, which is only in this agent's environment.

        Raises:
            CannotIsolate: if the agent's control group cannot be made, or the agent could not read its files.
        """
        if os.geteuid() == 0 and folder.stat().st_mode & 0o005 != 0o005:
            raise CannotIsolate(
                f"{folder} can be read by root only, and agents are other users; chmod -R a+rX {folder}, or start as another user"
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
    group: ControlGroup
    reports: int = field(init=False)
    """The descriptor for bubblewrap's reports; the supervisor inherits it."""
    _reported: int = field(init=False)
    _used: Usage | None = field(default=None, init=False)
    """The total usage, once the agent has ended."""
    _released: bool = field(default=False, init=False)
    _ending: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        """Make the pipe for the reports."""
        self._reported, self.reports = os.pipe()
        os.set_blocking(self._reported, False)

    def order(self) -> bytes:
        """Return the order for the supervisor: the arguments of `referee.sandbox.enter.enter` after their length."""
        sandbox = self.sandbox
        sources: list[str] = []
        arguments: list[str] = []

        def add(*words: str) -> None:
            arguments.extend(f"={word}" for word in words)

        def show(source: str, name: str) -> None:
            arguments.extend(("=--ro-bind", f"$SOURCE{len(sources)}", f"={name}"))
            sources.append(source)

        add("--unshare-all", "--unshare-user")  # the first flag only tries to make a user namespace, the second insists
        add("--disable-userns")  # no namespaces inside the box, where a bot would be root
        add("--uid", str(_NOBODY), "--gid", str(_NOBODY), "--hostname", "bot")
        add("--die-with-parent", "--new-session")  # no terminal, whose input could be forged
        add("--cap-drop", "ALL", "--clearenv")
        add("--proc", "/proc", "--dev", "/dev")
        add("--size", str(1024 * 1024), "--perms", "0700", "--tmpfs", "/dev/shm")  # noqa: S108 else half of the memory
        add("--size", str(sandbox.limits.tmp_bytes), "--perms", "0700", "--tmpfs", "/tmp")  # noqa: S108 its own
        for source in sandbox.runtimes.folders:  # after /tmp, which would hide folders below it
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
        order = marshal.dumps(  # the supervisor can read this without an import
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
        """Return the command that bubblewrap runs; prlimit limits its tasks unless a control group does."""
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
            own["RLIMIT_DATA"] = limits.memory_bytes  # of each process; never RLIMIT_AS: runtimes reserve much of that
        return own

    def was_built(self) -> bool:
        """Return whether the agent could run. Call this once, when the agent has ended but the box has not."""
        reported = b""
        with contextlib.suppress(OSError):  # nothing more was reported
            while data := os.read(self._reported, 4096):
                reported += data
        return b'"exit-code"' in reported

    def usage(self) -> Usage:
        """Return the agent's resource usage, so far or in total."""
        return self.group.usage() if self._used is None else self._used

    def why_killed(self) -> str:
        """Return, in words, the limit that killed a process of the agent; empty if no limit did."""
        if self.usage().memory_kills:
            return f"out of memory at {in_words(self.sandbox.limits.memory_bytes)}"
        return ""

    def freeze(self, *, frozen: bool) -> None:
        """Stop or resume all processes of the agent. It has no effect after `release` or `end`."""
        if not self._released and self._used is None:
            with contextlib.suppress(FileNotFoundError):  # another thread is ending the group
                self.group.freeze(frozen=frozen)

    def release(self) -> None:
        """Resume the agent for good, because stopped processes do not die."""
        if not self.sandbox.limits.ponders:
            self.freeze(frozen=False)
        self._released = True

    def end(self) -> None:
        """Kill the rest of the agent, and free the resources of its box. Any number of threads may call it."""
        with self._ending:
            if self._used is None:
                self._used = self.group.usage()
                self.group.end(forgets=self.sandbox.forgets)
                os.close(self._reported)
                os.close(self.reports)


def users_for_agents(uid_map: str) -> tuple[int, int]:
    """Return the first user id that root can use for agents, and the number of ids.

    Args:
        uid_map: the available users, as in /proc/self/uid_map; a container has fewer than its host.

    Raises:
        CannotIsolate: if there are too few ids.
    """
    spans = [(int(first), int(count)) for first, _, count in (line.split() for line in uid_map.splitlines())]
    if any(first <= _FIRST_USER and first + count >= _FIRST_USER + _USERS for first, count in spans):
        return _FIRST_USER, _USERS
    first, count = max(spans, key=lambda span: span[1])
    users = min(_USERS, count // 2)  # the upper half, because accounts of people and services have small numbers
    if users < _LEAST_USERS:
        raise CannotIsolate(
            "root can be too few other users in this container; map 65536 of them into it, or do not run as root"
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
