"""Find out which isolation measures work on this machine, by building a box and trying to escape from it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.sandbox.box import SUPERVISOR, Box, CannotIsolate, Sandbox, find_bubblewrap
from referee.sandbox.cgroup import Groups, Usage
from referee.sandbox.filter import bpf
from referee.sandbox.limits import ResourceLimits, in_words
from referee.sandbox.runtimes import Runtimes, compile_sdk
from referee.sandbox.socket_folder import SocketFolder, sweep
from referee.sandbox.system import HOW_TO_GET_LINUX, IS_LINUX, NAME

_PROBE = Path(__file__).with_name("look_around.py")
_PROBE_SECONDS = 60.0
_DELEGATE = "run as root, or below a control group that was handed over to you"
_DELEGATE_LINE = "systemd-run --user --scope -p Delegate=yes dogana ladder run"
_WRITABLE = "let root make control groups: in a container, /sys/fs/cgroup must be writable"
_REPORT = "report this as a fault of Dogana, with the output of this command"
_NO_BOX = "there is no sandbox at all: a bot can read your files, use the network, and do whatever you can"
_IN_A_CONTAINER = (
    "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
    " --security-opt systempaths=unconfined IMAGE"
)


@dataclass(frozen=True, slots=True)
class Measure:
    """One isolation measure, and whether it works on this machine."""

    name: str
    stands: bool
    says: str
    """A description of the measure, or of what is lost without it."""
    fix: str = ""
    """Advice if the measure does not work."""
    is_needed: bool = True
    """True if a ladder for strangers needs the measure."""
    means: str = ""
    """The harm that a bot could do without the measure."""
    commands: tuple[str, ...] = ()
    """The commands that enable the measure."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The outcome of a program that ran in a box."""

    status: int
    output: str
    was_built: bool
    usage: Usage


def build(limits: ResourceLimits, runtimes: Sequence[Path] = ()) -> Sandbox:
    """Return the sandbox for agents on this machine, after testing it.

    Args:
        limits: the resources that each agent may use.
        runtimes: folders with runtimes in addition to the usual ones; see `Runtimes.find`.

    Raises:
        CannotIsolate: if a measure that a ladder needs does not work; the text names it and says what to do.
        NoRuntime: if a folder is not a runtime.
    """
    sandbox, measures = inspect(limits, runtimes)
    missing = next((measure for measure in measures if measure.is_needed and not measure.stands), None)
    if sandbox is None or missing is not None:
        assert missing is not None  # noqa: S101 without a sandbox, a measure is missing
        fix = ": ".join((missing.fix, *missing.commands[:1]))
        raise CannotIsolate(f"bots cannot be isolated here ({missing.name}: {missing.says}); {fix}")
    return sandbox


def build_sandbox(limits: ResourceLimits, runtimes: Sequence[Path], otherwise: str) -> Sandbox:
    """Return a sandbox that confines bots to these limits.

    Raises:
        CannotIsolate: if this machine cannot build it; the text ends with `otherwise`, the user's alternative.
    """
    try:
        return build(limits, runtimes)
    except CannotIsolate as error:
        raise CannotIsolate(f"{error}; or {otherwise}") from error


def inspect(limits: ResourceLimits, runtimes: Sequence[Path] = ()) -> tuple[Sandbox | None, list[Measure]]:
    """Test every isolation measure. The sandbox is None if no box can be built at all.

    Raises:
        NoRuntime: if a folder is not a runtime.
    """
    if not IS_LINUX:
        return None, [Measure("Linux", False, f"the sandbox needs it, and this is {NAME}", HOW_TO_GET_LINUX)]
    found = Runtimes.find(runtimes)
    compile_sdk()
    groups = Groups.look()
    groups.sweep()
    sweep()
    measures: list[Measure] = []
    try:
        bubblewrap = find_bubblewrap()
    except CannotIsolate:
        measures.append(
            Measure(
                "bubblewrap",
                False,
                "is not installed",
                "install bubblewrap (Debian, Ubuntu)",
                means=_NO_BOX,
                commands=("apt-get install bubblewrap",),
            )
        )
        return None, [*measures, *_of_groups(groups, limits)]
    measures.append(Measure("bubblewrap", True, bubblewrap))
    sandbox = Sandbox(limits, found, groups, bpf(), bubblewrap)
    try:
        # With -I -S, the probe does not depend on installed packages or environment variables.
        ran = run(sandbox, [sys.executable, "-I", "-S", str(_PROBE)], Path(__file__).parent)
    except CannotIsolate as error:
        what, _, fix = str(error).partition("; ")
        measures.append(Measure("box", False, what, fix, means=_NO_BOX))
        return None, [*measures, *_of_groups(groups, limits)]
    try:
        seen = json.loads(ran.output)
    except ValueError:
        last = ran.output.strip().splitlines()[-1:] or [f"its status was {ran.status}"]
        fix, commands = why_no_box(last[0])
        measures.append(
            Measure("box", False, f"no box could be built: {last[0]}", fix, means=_NO_BOX, commands=commands)
        )
        return None, [*measures, *_of_groups(groups, limits)]
    measures += _of_box(seen)
    return sandbox, [*measures, *_of_groups(groups, limits)]


def run(sandbox: Sandbox, argv: Sequence[str], folder: Path) -> Ran:
    """Run a program in a box with a socket on which nobody listens, and wait for it to end; kill it after a minute.

    Raises:
        CannotIsolate: if the control group of the box cannot be made.
        PathTooLong: if the path of the folder for temporary files is too long for a socket.
    """
    scratch = SocketFolder()
    try:
        with socket.socket(socket.AF_UNIX) as nobody:
            nobody.bind(str(scratch.socket))
            return _run(sandbox.box(argv, folder, scratch.socket, "none"))
    finally:
        scratch.remove()


def _run(box: Box) -> Ran:
    try:
        with subprocess.Popen(
            [*SUPERVISOR, "--box"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={},
            pass_fds=(box.reports,),
        ) as process:
            assert process.stdin is not None  # noqa: S101 it is a pipe
            assert process.stdout is not None  # noqa: S101
            process.stdin.write(box.order())
            process.stdin.flush()
            ending = threading.Timer(_PROBE_SECONDS, process.stdin.close)  # closing its input ends it
            ending.start()
            output = process.stdout.read().decode(errors="replace")
            status = process.wait()
            ending.cancel()
        return Ran(status, output, box.was_built(), box.usage())
    finally:
        box.end()


def _of_box(seen: dict[str, Any]) -> Iterator[Measure]:
    """Judge the report of a program that ran in the box."""
    alone = seen["user"] != 0
    yield Measure(
        "user",
        alone,
        f"agents are user {seen['user']}" + (", another one each" if os.geteuid() == 0 else ", as you are"),
        _REPORT,
        means="agents would be root for the kernel",
    )
    unprivileged = not seen["can_change_kernel"] and seen["capabilities"] == 0 and seen["no_new_privileges"]
    yield Measure(
        "privileges",
        unprivileged,
        "no capabilities, no new privileges; the kernel's switches are out of reach"
        if unprivileged
        else "an agent has privileges",
        _REPORT,
        means="a bot could change what the kernel does, for everybody on this machine",
    )
    yield Measure(
        "files",
        not seen["writable"] and seen["descriptors"] == [0, 1, 2],
        "only the usual programs and the agent's own files can be seen, nothing can be changed"
        if not seen["writable"]
        else f"can write to {', '.join(seen['writable'])}",
        _REPORT,
        means="a bot could read or change files that are not its own",
    )
    yield Measure(
        "room",
        0 < seen["tmp_bytes"] < 1 << 40 and 0 < seen["shm_bytes"] <= 1 << 20,
        f"{in_words(seen['tmp_bytes'])} in /tmp, gone with the match",
        _REPORT,
        means="a bot could fill the memory with files",
    )
    yield Measure(
        "processes",
        len(seen["processes"]) <= 3 and seen["environment_of_first"] == 0,
        "an agent sees only its own",
        _REPORT,
        means="a bot could see the processes of others",
    )
    yield Measure(
        "network",
        seen["networks"] == ["lo"],
        "none but the socket of its seat",
        _REPORT,
        means="a bot could call other machines, and other bots",
    )
    yield Measure(
        "system calls",
        seen["has_filter"],
        "only those that runtimes need" if seen["has_filter"] else "all can be made",
        "use a kernel with seccomp filters (CONFIG_SECCOMP_FILTER=y); those of all large distributions have them",
        means="a bot could make system calls that no runtime needs, and through which others have broken out",
    )


def _of_groups(groups: Groups, limits: ResourceLimits) -> Iterator[Measure]:
    """Yield a measure for each limit on all processes of an agent together."""
    memory = in_words(limits.memory_bytes)
    is_root = os.geteuid() == 0
    for name, controller, held, lost, means in (
        ("memory", "memory", f"{memory} for all processes together, what is in /tmp included",
         f"{memory} for each process, not for all together, and not for what processes can share; /tmp counts apart, the peak is not known",
         "a bot of many processes can take much more memory than it should"),
        ("tasks", "pids", f"{limits.tasks} processes and threads", f"{limits.tasks} processes and threads, by the kernel's count for a user",
         "the limit holds, but Dogana cannot tell how many a bot has used"),
        ("processor", "cpu", f"{limits.cpus:g} of a processor", "an agent may use all processors at the cost of others",
         "a bot with many threads slows the others' matches down"),
        ("stopping", "freezer", "agents can be stopped while they are not asked", "--no-pondering cannot be enforced",
         "bots can think while it is not their turn"),
    ):  # fmt: skip
        one = groups.found.get(controller)
        says = f"{held} (control groups, version {one.version})" if one else lost
        fix, commands = (_WRITABLE, ()) if is_root else (_DELEGATE, (_DELEGATE_LINE,))
        is_needed = controller == "freezer" and not limits.ponders
        yield Measure(name, one is not None, says, fix, is_needed, means, commands)


def why_no_box(said: str, switches: Path = Path("/proc/sys")) -> tuple[str, tuple[str, ...]]:
    """Return advice about an error message from bubblewrap, with the commands to type.

    Args:
        said: the message.
        switches: the folder with the settings of the kernel.
    """
    if _switched(switches / "kernel/apparmor_restrict_unprivileged_userns", "1"):
        profile = "profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }"
        return (
            "AppArmor forbids user namespaces: allow them for bubblewrap by a profile, as root",
            (f"echo '{profile}' > /etc/apparmor.d/bwrap", "systemctl reload apparmor"),
        )
    if _switched(switches / "kernel/unprivileged_userns_clone", "0"):
        return "user namespaces are forbidden: allow them, as root", ("sysctl kernel.unprivileged_userns_clone=1",)
    if _switched(switches / "user/max_user_namespaces", "0"):
        return "user namespaces are forbidden: allow them, as root", ("sysctl user.max_user_namespaces=10000",)
    if "nknown option" in said:  # with a large or a small u
        return "this bubblewrap is too old: 0.8.0 or newer is needed", ()
    return (
        "in a container, user namespaces and mounts must be allowed; outside of one, report this",
        (_IN_A_CONTAINER,),
    )


def _switched(switch: Path, value: str) -> bool:
    """Return whether a kernel setting exists and has this value."""
    return switch.exists() and switch.read_text().strip() == value
