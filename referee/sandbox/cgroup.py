"""Control groups, which limit and measure the resources that all processes of an agent use together.

Linux has two versions. A machine may offer this user write access to either, both or neither of them. See cgroups(7).
A new group is made below this process's own, so that all limits on this process also limit its agents.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from referee.sandbox.limits import ResourceLimits, in_words
from referee.sandbox.system import is_alive
from referee.terminal import counted

_PREFIX = "dogana-"
_PERIOD_MICROSECONDS = 100_000
_OWN_TASKS = 2
"""The number of bubblewrap's own processes in the group."""
_KILL_SECONDS = 5.0
"""The time allowed for killed processes to disappear, in seconds."""
_SWITCH = {1: "freezer.state", 2: "cgroup.freeze"}
_GO_ON = {1: "THAWED", 2: "0"}
"""For each version of control groups, the file that stops and resumes processes, and the value that resumes them."""
_FORGET = ("memory.force_empty", "memory.high")
"""The files that make a group without processes give up its page cache, one for each version of control groups."""
_counter = itertools.count()


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources used by all processes of an agent together; None where this machine does not report them."""

    memory_peak: int | None = None
    """The peak memory use, in bytes."""
    memory_kills: int | None = None
    """The number of processes killed because memory ran out."""
    tasks_peak: int | None = None
    """The peak number of processes and threads."""
    cpu_seconds: float | None = None
    """The processor time, in seconds."""

    def __str__(self) -> str:
        """Return the usage in words."""
        known = [
            "" if self.memory_peak is None else f"{in_words(self.memory_peak)} of memory",
            "" if self.tasks_peak is None else counted(self.tasks_peak, "task"),
            "" if self.cpu_seconds is None else f"{self.cpu_seconds:.2f} s of processor time",
            f"processes killed for want of memory: {self.memory_kills}" if self.memory_kills else "",
        ]
        return ", ".join(filter(None, known)) or "an amount that this machine does not report"


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A tree of groups in which this process may make a group.

    Attributes:
        folder: the group of this process.
        version: 1 or 2.
    """

    folder: Path
    version: int


class Groups:
    """The controllers that can limit agents on this machine.

    Attributes:
        found: the place for new groups, for each usable controller among memory, pids, cpu, cpuacct and freezer.
    """

    def __init__(self, found: Mapping[str, Hierarchy]) -> None:
        self.found = dict(found)

    @staticmethod
    def look(root: Path = Path("/"), can_make: Callable[[Path], bool] | None = None) -> Groups:
        """Find the usable controllers by trying them.

        Args:
            root: the folder that contains /proc and /sys.
            can_make: a function that returns whether this process can make a group in a folder; None to find out by trying.
        """
        own = _own_groups((root / "proc/self/cgroup").read_text())
        found: dict[str, Hierarchy] = {}
        for mount, kind, options in _mounts((root / "proc/self/mounts").read_text()):
            folder = root / mount.lstrip("/")
            if kind == "cgroup2" and "" in own:
                here = folder / own[""].lstrip("/")
                _settle(here)
                # In version 2, a group with processes cannot have limited groups below it. So the nearest group above
                # that can have them is used.
                for above in (here, *here.parents):
                    for name in _enabled(above):
                        found.setdefault(name, Hierarchy(above, 2))
                    if above == folder:
                        break
            elif kind == "cgroup":
                for name in ("memory", "pids", "cpu", "cpuacct", "freezer"):
                    if name in options and name in own:
                        found[name] = Hierarchy(folder / own[name].lstrip("/"), 1)
        return Groups({name: one for name, one in found.items() if (can_make or _can_make)(one.folder)})

    def make(self, limits: ResourceLimits) -> ControlGroup:
        """Make a group with the limits that this machine can enforce.

        Raises:
            OSError: if the group cannot be made, although this worked before.
        """
        name = f"{_PREFIX}{os.getpid()}-{next(_counter)}"
        group = ControlGroup({key: Hierarchy(one.folder / name, one.version) for key, one in self.found.items()})
        try:
            group.begin(limits)
        except OSError:
            group.end()
            raise
        return group

    def sweep(self) -> None:
        """Remove groups whose owners are dead, and kill the processes in them."""
        for one in {one.folder: one for one in self.found.values()}.values():
            for folder in one.folder.glob(f"{_PREFIX}*"):
                owner = re.fullmatch(rf"{_PREFIX}(\d+)-\d+", folder.name)
                if owner and not is_alive(int(owner[1])):
                    with contextlib.suppress(OSError):
                        _remove(folder)


class ControlGroup:
    """The group of one agent."""

    def __init__(self, parts: Mapping[str, Hierarchy]) -> None:
        self._parts = dict(parts)
        self._folders = list(dict.fromkeys(part.folder for part in parts.values()))

    def begin(self, limits: ResourceLimits) -> None:
        """Make the group's folders, and set its limits."""
        for folder in self._folders:
            folder.mkdir()
        for name, value in _settings(self._parts, limits):
            try:
                name.write_text(str(value))
            except FileNotFoundError:
                if name.name not in _OPTIONAL:
                    raise

    @property
    def doors(self) -> list[str]:
        """The files to which a process writes its id to enter the group."""
        return [str(folder / "cgroup.procs") for folder in self._folders]

    def freeze(self, *, frozen: bool) -> None:
        """Stop or resume all processes of the agent; call it only if `Groups.found` has the freezer."""
        part = self._parts["freezer"]
        if part.version == 1:
            (part.folder / _SWITCH[1]).write_text("FROZEN" if frozen else _GO_ON[1])
        else:
            (part.folder / _SWITCH[2]).write_text("1" if frozen else _GO_ON[2])

    @property
    def thaw(self) -> tuple[str, str] | None:
        """The file and the text to write to it to resume the agent's processes; None if they cannot be stopped."""
        if "freezer" not in self._parts:
            return None
        part = self._parts["freezer"]
        return str(part.folder / _SWITCH[part.version]), _GO_ON[part.version]

    def usage(self) -> Usage:
        """Return the usage so far."""
        memory, tasks = self._parts.get("memory"), self._parts.get("pids")
        cpu = self._parts.get("cpuacct") or self._parts.get("cpu")
        peak = kills = most = used = None
        if memory and memory.version == 1:
            peak = _number(memory.folder / "memory.max_usage_in_bytes")
            kills = _field(memory.folder / "memory.oom_control", "oom_kill")
        elif memory:
            peak = _number(memory.folder / "memory.peak")
            kills = _field(memory.folder / "memory.events", "oom_kill")
        if tasks:
            most = _number(tasks.folder / "pids.peak")
        if cpu and cpu.version == 1:
            used = _number(cpu.folder / "cpuacct.usage")
        elif cpu:
            used = _field(cpu.folder / "cpu.stat", "usage_usec")
            used = None if used is None else used * 1000
        return Usage(
            peak,
            kills,
            None if most is None else max(0, most - _OWN_TASKS),
            None if used is None else used / 1e9,
        )

    def end(self, *, forgets: bool = True) -> None:
        """Kill the remaining processes of the group, and remove it.

        Args:
            forgets: whether file pages that this group was the first to read leave the page cache. Otherwise the next
                reader can detect that somebody has read them, even after the match.
        """
        for folder in self._folders:
            with contextlib.suppress(FileNotFoundError):
                _remove(folder, forgets=forgets)


_OPTIONAL = {"memory.memsw.limit_in_bytes", "memory.swap.max", "memory.oom.group"}
"""Files that some kernels lack; the other limits usually cover what these files limit."""


def _settings(parts: Mapping[str, Hierarchy], limits: ResourceLimits) -> Iterator[tuple[Path, object]]:
    quota = int(limits.cpus * _PERIOD_MICROSECONDS)
    if memory := parts.get("memory"):
        if memory.version == 1:
            yield memory.folder / "memory.limit_in_bytes", limits.memory_bytes
            # Version 1 limits memory and swap together; version 2 limits swap by itself.
            yield memory.folder / "memory.memsw.limit_in_bytes", limits.memory_bytes
        else:
            yield memory.folder / "memory.max", limits.memory_bytes
            yield memory.folder / "memory.swap.max", 0
            yield memory.folder / "memory.oom.group", 1
    if tasks := parts.get("pids"):
        yield tasks.folder / "pids.max", limits.tasks + _OWN_TASKS
    if cpu := parts.get("cpu"):
        if cpu.version == 1:
            yield cpu.folder / "cpu.cfs_period_us", _PERIOD_MICROSECONDS
            yield cpu.folder / "cpu.cfs_quota_us", quota
        else:
            yield cpu.folder / "cpu.max", f"{quota} {_PERIOD_MICROSECONDS}"


def _own_groups(text: str) -> dict[str, str]:
    """Return the group of this process for each controller; an empty name stands for version 2."""
    own: dict[str, str] = {}
    for line in text.splitlines():
        _, names, path = line.split(":", 2)
        own |= dict.fromkeys(names.split(","), path)
    return own


def _mounts(text: str) -> Iterator[tuple[str, str, list[str]]]:
    for line in text.splitlines():
        _, mount, kind, options, *_ = line.split()
        # The kernel writes a space in a path as \040 (proc(5)).
        yield mount.replace("\\040", " "), kind, options.split(",")


def _enabled(folder: Path) -> list[str]:
    """Return the controllers available to groups below a version 2 group."""
    with contextlib.suppress(OSError):
        names = (folder / "cgroup.subtree_control").read_text().split()
        accounted = ["cpuacct"] if "cpu" in names else []
        freezes = ["freezer"] if (folder / "cgroup.procs").exists() else []
        return [name for name in names if name in ("memory", "pids", "cpu")] + accounted + freezes
    return []


def _settle(here: Path) -> None:
    """Move this process into a leaf group if its group was delegated to it, so that the leaf can have limited siblings.

    In version 2, a group contains either processes or limited groups. systemd marks a delegated group
    (`systemd-run --scope -p Delegate=yes`) with an attribute.
    """
    with contextlib.suppress(OSError):
        if os.getxattr(here, "user.delegate") != b"1" or "memory" in _enabled(here):
            return
        leaf = here / f"{_PREFIX}self"
        leaf.mkdir(exist_ok=True)
        for pid in (here / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                (leaf / "cgroup.procs").write_text(pid)
        for name in (here / "cgroup.controllers").read_text().split():
            if name in ("memory", "pids", "cpu"):
                (here / "cgroup.subtree_control").write_text(f"+{name}")


def _can_make(parent: Path) -> bool:
    """Return whether this process can make a group below `parent` and put a process into it."""
    folder = parent / f"{_PREFIX}{os.getpid()}-{next(_counter)}"
    try:
        folder.mkdir()
    except OSError:
        return False
    try:
        # Moving a process needs write access to the group above both places, too (cgroup-v2.rst of the kernel).
        return os.access(folder / "cgroup.procs", os.W_OK) and os.access(parent / "cgroup.procs", os.W_OK)
    finally:
        folder.rmdir()


def _remove(folder: Path, *, forgets: bool = True) -> None:
    """Kill all processes of a group, including stopped ones, and remove it when they are gone.

    Args:
        folder: the group.
        forgets: as in `ControlGroup.end`.

    Raises:
        OSError: if some processes do not die in time.
    """
    deadline = time.monotonic() + _KILL_SECONDS
    for version, name in _SWITCH.items():
        if (folder / name).exists():
            (folder / name).write_text(_GO_ON[version])  # in version 1, frozen processes do not die
    while True:
        # The list is read each time, because a process may have forked after it was listed and before it was killed.
        living = (folder / "cgroup.procs").read_text().split()
        for pid in living:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        if forgets and not living:
            for name in _FORGET:
                if (folder / name).exists():
                    (folder / name).write_text("0")
        try:
            folder.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.001)
        else:
            return


def _number(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text())
    return None


def _field(path: Path, name: str) -> int | None:
    with contextlib.suppress(OSError):
        found = re.search(rf"^{name} (\d+)$", path.read_text(), re.MULTILINE)
        return int(found[1]) if found else None
    return None
