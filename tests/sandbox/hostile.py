"""The table of what strangers' programs try, which measure stops each, and how it must end; `docs/security.md` shows it.

As a program it runs those attacks in boxes that need no match, and prints what came of each as JSON: the tests run it as another
user, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from referee.match.result import Outcome
from referee.sandbox.box import Sandbox
from referee.sandbox.filter import calls
from referee.sandbox.measures import Ran, build, run
from tests.sandbox import attackers, attacks, probe
from tests.sandbox.conftest import LIMITS

NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Attack:
    """A program in a box that needs no match.

    Attributes:
        wall: what stops it.
        ends: what each of its attempts may come to: names of errnos, or `nothing` if it succeeds and gains nothing.
        alone: whether it needs a box of its own.
    """

    wall: str
    ends: str
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent in a match.

    Attributes:
        wall: what stops it.
        outcome: how its seat must end.
        detail: what the report must say of it, as a regular expression.
        log: what it must have written, as a regular expression.
        joins: whether it speaks to the referee as agents do, before it attacks.
    """

    wall: str
    outcome: Outcome
    detail: str = ""
    log: str = ""
    joins: bool = True


@dataclass(frozen=True, slots=True)
class Calls:
    """System calls that the probe makes in a box.

    Attributes:
        does: what they are for.
        attempts: how the names of the probe's attempts begin.
    """

    does: str
    attempts: str


ATTACKS = {
    "own_folder": Attack("files", "EROFS EACCES nothing"),
    "system_files": Attack("files", "EROFS EACCES"),
    "its_socket": Attack("files", "EROFS EXDEV"),
    "files_of_others": Attack("files", "ENOENT nothing"),
    "links_out": Attack("files", "ENOENT EXDEV"),
    "devices": Attack("files", "ENOENT EACCES EPERM ENOSYS"),
    "kernel_switches": Attack("user", "EACCES EPERM EROFS ENOENT EINVAL"),
    "control_groups": Attack("files", "ENOENT nothing"),
    "setuid_programs": Attack("privileges", "nothing"),
    "setuid_copy": Attack("privileges", "nothing ENOSYS"),
    "another_program": Attack("privileges", "nothing EACCES EROFS ETXTBSY"),
    "priorities": Attack("privileges", "EACCES EPERM nothing"),
    "limits_upwards": Attack("privileges", "EPERM"),
    "other_processes": Attack("processes", "ENOENT ESRCH ENOSYS nothing"),
    "first_process": Attack("processes", "ENOSYS nothing"),
    "parents_of_namespaces": Attack("processes", "ENOTTY"),
    "inherited": Attack("supervisor", "ENXIO nothing"),
    "core_dump": Attack("supervisor", "nothing"),
    "network": Attack("network", "EAFNOSUPPORT gaierror"),
    "sockets_of_others": Attack("network", "ENOENT ECONNREFUSED nothing"),
    "full_disk": Attack("limits", "EFBIG ENOSPC"),
    "open_files": Attack("limits", "EMFILE"),
    "terminals": Attack("limits", "EMFILE ENOTTY"),
    "timers": Attack("limits", "EAGAIN"),
    "unknown_programs": Attack("privileges", "ENOEXEC"),
    "fork_bomb": Attack("limits", "EAGAIN", alone=True),
    "thread_bomb": Attack("limits", "EAGAIN", alone=True),
    "zombies": Attack("limits", "EAGAIN", alone=True),
    "memory_bomb": Attack("limits", "ENOMEM", alone=True),
    "shared_memory": Attack("limits", "ENOMEM", alone=True),
    "hidden_files": Attack("limits", "ENOMEM", alone=True),
    "hidden_buffers": Attack("limits", "EMFILE ENOMEM", alone=True),
    "garbage_of_sockets": Attack("limits", "nothing ETOOMANYREFS", alone=True),
    "deep_folders": Attack("limits", "ENOMEM ENOSPC nothing", alone=True),
    "flees": Attack("processes", "nothing", alone=True),
    "everybody": Attack("processes", "nothing", alone=True),
    "daemon": Attack("processes", "nothing", alone=True),
    "memory_of_matches": Attack("files", "ENOENT ENOSYS", alone=True),
}
"""By the name of a function in `attacks.py`."""

OUT_OF_MEMORY = ("memory_bomb", "shared_memory", "hidden_files", "hidden_buffers", "deep_folders")
"""Where the kernel may choose to end the whole box instead, which is as good."""

CALLS = {
    "keyrings": Calls("Keeps a note in a keyring, which belongs to the user and outlives the match.", "keyctl add_key request_key"),
    "shared_objects": Calls("Makes shared memory, semaphores and message queues of System V and of POSIX.", "shmget msgget semget mq_open"),
    "locks": Calls("Communicates with another seat through locks and notices on files that both can read.", "flock fcntl inotify fanotify_init"),
    "page_cache": Calls("Finds out which files others have read.", "mincore cachestat readahead"),
    "huge_pages": Calls("Takes memory that limits do not count.", "huge memfd_secret"),
    "traces": Calls("Traces processes, and reads and writes their memory.", "ptrace process_ pidfd_ kcmp move_pages migrate_pages"),
    "cores": Calls("Chooses its own processors and memory.", "sched_setaffinity mbind set_mempolicy"),
    "io_uring": Calls("Makes system calls past the filter, through rings.", "io_uring_setup io_setup"),
    "programs_in_the_kernel": Calls("Gives the kernel programs to run.", "bpf seccomp setsockopt perf_event_open landlock lsm_ prctl"),
    "page_faults": Calls("Handles page faults itself, to win races in the kernel.", "userfaultfd"),
    "namespaces": Calls("Makes and enters namespaces, where it would be root.", "unshare setns clone:_ clone3"),
    "mounts": Calls("Mounts, unmounts, changes its root, and makes devices.", "mount umount2 pivot_root chroot open_tree move_mount fsopen fspick statmount listmount listns mknod"),
    "handles": Calls("Opens files by handles, bypassing folders and their modes.", "name_to_handle_at open_by_handle_at"),
    "the_machine": Calls("Loads modules and kernels, sets the clock, swaps, and restarts the machine.", "kexec_load init_module finit_module delete_module swapon swapoff reboot acct syslog settimeofday clock_ adjtimex sethostname iopl ioperm quotactl syncfs"),
    "terminals": Calls("Types into the organiser's terminal.", "terminal"),
    "families": Calls("Opens sockets of all other families.", "socket:_ socketpair:_"),
    "other_entries": Calls("Makes calls through the entry points of other architectures.", "x32 i386"),
    "odd_calls": Calls("Makes calls that hardly any program makes.", "modify_ldt remap_file_pages map_shadow_stack personality lookup_dcookie file_getattr splice vmsplice get_robust_list"),
}  # fmt: skip
"""The attempts of the probe (`tests/sandbox/probe.py`); the measure is the filter of system calls."""

_LIMITED = "limits"
AGENTS = {
    "says_nothing": Agent("door", Outcome.START, "did not join within", joins=False),
    "speaks_in_part": Agent("door", Outcome.START, "did not join within", joins=False),
    "speaks_nonsense": Agent("door", Outcome.START, "did not join within", joins=False),
    "resets": Agent("door", Outcome.START, "did not join within", joins=False),
    "sends_no_use": Agent("door", Outcome.START, "did not join within", joins=False),
    "guesses_tokens": Agent("door", Outcome.START, "did not join within", joins=False),
    "sends_a_giant": Agent("door", Outcome.DISCONNECT, joins=False),
    "sends_a_bomb": Agent("door", Outcome.DISCONNECT, joins=False),
    "sends_no_message": Agent("door", Outcome.PROTOCOL, "not a dogana.v1.AgentMessage", joins=False),
    "joins_again": Agent("door", Outcome.PROTOCOL, "second Join", joins=False),
    "closes_halfway": Agent("door", Outcome.DISCONNECT, joins=False),
    "sends_too_much": Agent("door", Outcome.PROTOCOL, "more messages than it is asked for", joins=False),
    "names_itself": Agent("supervisor", Outcome.PLAYED, log="^named$", joins=False),
    "opens_more_streams": Agent("door", Outcome.PLAYED, joins=False),
    "connects_again": Agent(
        "door", Outcome.PLAYED, log=r"\Arefused: PermissionError\nrefused: OSError\nrefused: OSError\n\Z"
    ),
    "uses_up_files": Agent("door", Outcome.PLAYED, log="^held: 0$"),
    "floods_its_output": Agent("supervisor", Outcome.PLAYED, log="bytes dropped"),
    "closes_its_output": Agent("supervisor", Outcome.PLAYED),
    "writes_escapes": Agent("supervisor", Outcome.PLAYED, log="not UTF-8"),
    "loses_a_child": Agent(_LIMITED, Outcome.PLAYED),
    "loses_a_child_then_fails": Agent(
        _LIMITED, Outcome.CRASH, "exited with status 3, after one of its processes was killed"
    ),
    "steals_a_token": Agent("processes", Outcome.PLAYED, log=r"^stolen: \[\]$"),
    "bombs": Agent(_LIMITED, Outcome.PLAYED),
    "stays": Agent("processes", Outcome.PLAYED),
    "takes_all_memory": Agent(_LIMITED, Outcome.CRASH, "out of memory at 128 MiB"),
    "gives_up_its_first_process": Agent(_LIMITED, Outcome.CRASH, "out of memory at 128 MiB"),
    "ends_with_137": Agent("supervisor", Outcome.CRASH, "^was killed by SIGKILL, or exited with status 137$"),
    "kills_itself": Agent("supervisor", Outcome.CRASH, "^was killed by SIGKILL, or exited with status 137$"),
    "kills_everybody": Agent("processes", Outcome.CRASH, "^was killed by SIGKILL, or exited with status 137$"),
    "stops_everybody": Agent("processes", Outcome.TIMEOUT),
    "calls_by_another_entry": Agent("system calls", Outcome.CRASH, "SIGSYS"),
    "becomes_another": Agent("supervisor", Outcome.DISCONNECT),
    "leaves_a_child": Agent("processes", Outcome.CRASH, "exited with status 0"),
    "does_not_read": Agent("door", Outcome.TIMEOUT),
}
"""By the name of a function in `attackers.py`."""


def table() -> list[str]:
    """Return the table as `docs/security.md` shows it."""
    lines = ["| behaviour | it | measure | ends with | test |", "|---|---|---|---|---|"]

    def add(name: str, does: str, wall: str, ends: str, test: str) -> None:
        lines.append(
            f"| `{name}` | {does[0].lower()}{does[1:].rstrip('.')} | [{wall}](#{wall.replace(' ', '-')}) | {ends} | {test} |"
        )

    for name, one in ATTACKS.items():
        refusals = [f"`{word}`" if word != NOTHING else "nothing gained" for word in one.ends.split()]
        test = "test_a_program_in_its_box_harms_nobody" if one.alone else "test_a_program_in_its_box_gains_nothing"
        add(name, _does(attacks, name), one.wall, ", ".join(refusals), f"`{test}`")
    for name, group in CALLS.items():
        add(name, group.does, "system calls", "the filter's refusal", "`test_system_calls_of_attackers_are_refused`")
    for name, agent in AGENTS.items():
        ends = (
            "a match played, nothing gained" if agent.outcome is Outcome.PLAYED else f"its fault: {agent.outcome.value}"
        )
        add(name, _does(attackers, name), agent.wall, ends, "`test_an_agent_that_attacks_gains_nothing`")
    return lines


def _does(module: object, name: str) -> str:
    return " ".join((getattr(module, name).__doc__ or "").split())


def program(folder: Path, module: object) -> Path:
    """Copy a module of attacks into a folder for a box, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    shutil.copy(str(getattr(module, "__file__", "")), folder)
    return folder


@contextlib.contextmanager
def clues(folder: Path, sandbox: Sandbox) -> Iterator[dict[str, str]]:
    """Provide what is to be reached: secrets, services and sockets on this machine. Nobody may have called when this ends."""
    secret = folder / "secret"
    secret.write_text("the seed")
    secret.chmod(0o644)
    with contextlib.ExitStack() as stack:

        def listen(family: int, kind: int, address: object) -> socket.socket:
            one = stack.enter_context(socket.socket(family, kind))
            one.bind(address)  # type: ignore[arg-type]
            if kind == socket.SOCK_STREAM:
                one.listen()
            one.setblocking(False)
            return one

        tcp = listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        port = tcp.getsockname()[1]
        udp = listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", port))
        seat = listen(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "seat"))
        (folder / "seat").chmod(0o666)
        stack.callback((folder / "seat").unlink)
        abstract = listen(socket.AF_UNIX, socket.SOCK_STREAM, f"\0dogana-test-{os.getpid()}")
        yield {
            "secret": str(secret),
            "packages": ":".join(one for one in sandbox.runtimes.folders if one.endswith(("dogana", "referee"))),
            "groups": ":".join(str(one.folder).removeprefix("/sys/fs/cgroup") for one in sandbox.groups.found.values()),
            "processes": f"{os.getpid()},{os.getppid()}",
            "port": str(port),
            "seat": str(folder / "seat"),
            "abstract": f"dogana-test-{os.getpid()}",
        }
        called = [one for one in (tcp, udp, seat, abstract) if _was_called(one)]
        assert not called, f"somebody was reached: {called}"


def _was_called(listener: socket.socket) -> bool:
    try:
        listener.accept() if listener.type == socket.SOCK_STREAM else listener.recv(1)
    except BlockingIOError:
        return False
    return True


def attack(sandbox: Sandbox, folder: Path, names: Sequence[str], known: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Run attacks in one box, and return what came of each attempt, by attack."""
    ran = run(
        sandbox,
        [sys.executable, "-I", "-S", "attacks.py", json.dumps(known), *names],
        program(folder / "bot", attacks),
    )
    return said(ran, names)


def said(ran: Ran, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return what a box says came of each attempt; one that was killed for its memory says nothing."""
    if ran.status in (137, -9) and ran.usage.memory_kills:
        return {name: {"box": "ENOMEM"} for name in names}
    assert ran.status == 0, ran
    found: dict[str, dict[str, str]] = json.loads(ran.output)
    return found


def probed(sandbox: Sandbox) -> dict[str, str]:
    """Run the probe in a box, and return what came of each of its attempts."""
    ran = run(
        sandbox, [sys.executable, "-I", "probe.py", json.dumps(calls(platform.machine()))], Path(probe.__file__).parent
    )
    found: dict[str, str] = json.loads(ran.output)
    return found


def main() -> None:
    """Run the attacks of the command line, in one box or one each, and print what came of them."""
    sandbox = build(LIMITS)
    if sys.argv[1] == "unfiltered":
        sandbox = replace(sandbox, filter=b"\x06\x00\x00\x00\x00\x00\xff\x7f")  # a program that lets every call through
    found: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as name, clues(Path(name), sandbox) as known:
        Path(name).chmod(0o755)
        together = [one for one in sys.argv[2:] if not ATTACKS[one].alone]
        for names in [together, *([one] for one in sys.argv[2:] if ATTACKS[one].alone)]:
            found |= attack(sandbox, Path(name), names, known) if names else {}
    json.dump({"found": found, "losses": sandbox.losses(), "nice": os.getpriority(os.PRIO_PROCESS, 0)}, sys.stdout)


if __name__ == "__main__":
    main()
